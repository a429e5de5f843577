import { describe, expect, it } from "vitest";
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

describe("a document", () => {
  it("asks for no encoding and names itself", async () => {
    await clientOf().fetchJson(urlOf("/document"), never);
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

  it("is refused before its body when it announces more than the limit", async () => {
    await expect(open({ archive: 499_999 })).rejects.toThrow(
      /larger than 499999/,
    );
  });

  it("is cut at the limit when it announces nothing", async () => {
    home.script("other", faults.chunked);
    const archive = await open({ archive: 499_999 });
    expect(archive.size).toBeUndefined();
    await expect(readAll(archive.body)).rejects.toThrow(/larger than 499999/);
  });

  it("fails when its first byte is late", async () => {
    home.script("other", faults.hang);
    await expect(open({ firstByte: 200 })).rejects.toThrow(/no first byte/);
  });

  it("fails when it stands still", async () => {
    const stuck = barrier();
    home.script("other", stuck.afterBytes(100_000));
    const { body } = await open({ idle: 200 });
    await expect(readAll(body)).rejects.toThrow(/stood still/);
    stuck.release();
  });

  it("fails when it is slower than the least rate, though it never stands still", async () => {
    home.script("other", faults.slow(100_000));
    const { body } = await open({ rate: 400_000, rateWindow: 300 });
    await expect(readAll(body)).rejects.toThrow(/64 KiB a second/);
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
    const client = makeClient(home.url, stranger.caPem);
    await expect(client.fetchJson(urlOf("/document"), never)).rejects.toThrow(
      failing("origin-unreachable"),
    );
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
