import { describe, expect, it } from "vitest";
import { ProvenderError } from "../../../src/errors/index.ts";
import { failing } from "../../scenes/failing.ts";
import { createAuthority } from "../../fakes/authority.ts";
import { barrier } from "../../fakes/barrier.ts";
import * as faults from "../../fakes/faults.ts";
import type { Fault } from "../../fakes/faults.ts";
import { hops, startHome, makeClient, never, readAll } from "../clients.ts";

const { ca, home, clientOf, urlOf } = await startHome({
  "/document": '{"a":1}',
  "/large": Buffer.alloc(500_000, "x"),
});
const askOf = (client = clientOf()) => {
  return () => client.fetchJson(urlOf("/document"), never);
};

describe("a document", () => {
  it("asks for no encoding and names itself", async () => {
    await askOf()();
    expect(home.requests.list()[0]?.headers).toMatchObject({
      accept: "application/json",
      "accept-encoding": "identity",
      "user-agent": "provender",
    });
    expect(home.requests.list()[0]?.headers.authorization).toBeUndefined();
  });

  it.each<[string, Fault]>([
    ["announced", faults.normal],
    ["not announced", faults.chunked],
  ])("may be as large as its limit and no larger, %s", async (_, framing) => {
    const client = clientOf({}, { originJson: 7 });
    home.script("other", framing);
    const url = urlOf("/document");
    const { bytes } = await client.fetchDocument(url, 7, never);
    expect(Buffer.from(bytes).toString()).toBe('{"a":1}');
    await expect(client.fetchDocument(url, 6, never)).rejects.toThrow(
      /larger than 6 bytes/,
    );
    expect((await client.fetchJson(url, never)).value).toEqual({ a: 1 });
    const small = clientOf({}, { originJson: 6 });
    await expect(small.fetchJson(url, never)).rejects.toThrow(/larger than/);
  });

  it("has one deadline for headers and body, redirects included", async () => {
    const client = clientOf({}, { json: 300 });
    const stuck = barrier();
    const late = faults.all(hops("/document"), faults.delayed(120));
    for (const [path, fault] of [
      ["/document", faults.hang],
      ["/document", stuck.afterBytes(0)],
      ["/document", stuck.afterBytes(3)],
      ["/hop/4", late],
    ] as const) {
      home.script("other", fault);
      await expect(client.fetchJson(urlOf(path), never)).rejects.toThrow(
        failing("origin-timeout"),
      );
    }
    stuck.release();
  });

  it("ends with the asker's own signal", async () => {
    home.script("other", faults.hang);
    const asker = new AbortController();
    const asked = clientOf().fetchJson(urlOf("/document"), asker.signal);
    const rejected = expect(asked).rejects.toThrow(failing("origin-timeout"));
    await home.requests.reach("other");
    asker.abort();
    await rejected;
    expect(await home.requests.list()[0]?.ended).toBe("cut");
  });
});

describe("an archive", () => {
  const open = (changed?: Parameters<typeof clientOf>[1]) =>
    clientOf({}, changed).openArchive(urlOf("/large"), never);

  it("is refused above its limit: before its body where that is announced, and there else", async () => {
    const tooLarge = /larger than 499999/;
    await expect(open({ archive: 499_999 })).rejects.toThrow(tooLarge);
    home.script("other", faults.chunked);
    const archive = await open({ archive: 499_999 });
    expect(archive.size).toBeUndefined();
    await expect(readAll(archive.body)).rejects.toThrow(tooLarge);
  });

  it("fails when its first byte is late, when it stands still, and when it is slower than the least rate", async () => {
    home.script("other", faults.hang);
    await expect(open({ firstByte: 200 })).rejects.toThrow(/no first byte/);
    const stuck = barrier();
    home.script("other", stuck.afterBytes(100_000));
    const still = await open({ idle: 200 });
    await expect(readAll(still.body)).rejects.toThrow(/stood still/);
    stuck.release();
    home.script("other", faults.slow(100_000));
    const slow = await open({ rate: 400_000, rateWindow: 300 });
    await expect(readAll(slow.body)).rejects.toThrow(/64 KiB a second/);
  });

  it("ends its connection when no client wants the rest", async () => {
    const held = barrier();
    home.script("other", held.afterBytes(100_000));
    const archive = await open();
    for await (const piece of archive.body) if (piece.length > 0) break;
    expect(await home.requests.list()[0]?.ended).toBe("cut");
  });
});

describe("a connection", () => {
  it("needs a certificate that the origin's CA signed", async () => {
    const stranger = await createAuthority();
    const ask = askOf(makeClient(home.url, stranger.caPem));
    await expect(ask()).rejects.toThrow(failing("origin-unreachable"));
  });

  it("that is refused is reported with the URL and the reason", async () => {
    const client = makeClient("https://127.0.0.1:1/", ca);
    await expect(
      client.fetchJson(new URL("https://127.0.0.1:1/x?sig=hush"), never),
    ).rejects.toThrow(
      "https://127.0.0.1:1/x could not be reached (ECONNREFUSED)",
    );
  });
});

const statuses = (...codes: readonly number[]) =>
  codes.map((code): [string, Fault] => [`${code}`, faults.status(code)]);

it.each<[string, Fault]>([
  ...statuses(408, 500, 502, 503, 504),
  ["a closed connection", faults.close],
  ["a body that is cut", faults.cut(3)],
])("asks again after %s, three times in all", async (_, fault) => {
  home.script("other", [fault, fault]);
  expect((await askOf()()).value).toEqual({ a: 1 });
  expect(home.requests.count()).toBe(3);
  home.script("other", [fault, fault]);
  const { size } = await clientOf().openArchive(urlOf("/large"), never);
  expect(size).toBe(500_000);
  home.requests.clear();
  home.script("other", fault);
  await expect(askOf()()).rejects.toThrow(ProvenderError);
  expect(home.requests.count()).toBe(3);
});

it.each<[string, Fault]>([
  ...statuses(400, 401, 404, 451, 501),
  ["what is no JSON", faults.notJson],
  ["too much", faults.body("x".repeat(200_000))],
  ["a redirect to where it may not go", faults.redirect("https://10.0.0.1/")],
])("never asks again after %s", async (_, fault) => {
  home.script("other", fault);
  await expect(askOf()()).rejects.toThrow(ProvenderError);
  expect(home.requests.count()).toBe(1);
});

it("stops when the host is suspended meanwhile, and reports the failure", async () => {
  home.script("other", faults.status(502));
  const ask = askOf();
  const asked = await Promise.allSettled(Array.from({ length: 8 }, ask));
  for (const result of asked)
    expect(result).toMatchObject({ reason: { status: 502 } });
  const { length } = home.requests.list();
  expect(length).toBeLessThan(8 * 3);
  await expect(ask()).rejects.toThrow(failing("origin-suspended"));
  expect(home.requests.count()).toBe(length);
});

it("counts one failure however often a request was tried", async () => {
  home.script("other", faults.close);
  const client = clientOf();
  const suspended: boolean[] = [];
  for (let failure = 1; failure <= 5; failure++) {
    await expect(askOf(client)()).rejects.toThrow(
      failing("origin-unreachable"),
    );
    suspended.push(client.isSuspended(urlOf("/")));
  }
  expect(suspended).toEqual([false, false, false, false, true]);
});

it.each([429, 503])(
  "sends nothing to a host that asked for a pause with %i",
  async (code) => {
    const headers = { "Retry-After": "30" };
    home.script("other", faults.status(code, { headers }));
    const ask = askOf();
    for (let times = 0; times < 3; times++)
      await expect(ask()).rejects.toThrow(failing("origin-busy"));
    expect(home.requests.count()).toBe(1);
  },
);
