import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { ProvenderError } from "../../../src/errors/index.ts";
import { failing } from "../../scenes/failing.ts";
import * as faults from "../../fakes/faults.ts";
import type { Fault } from "../../fakes/faults.ts";
import { startHome, never } from "../clients.ts";

const { home, clientOf, urlOf } = await startHome({
  "/document": '{"a":1}',
  "/archive": Buffer.alloc(1_000),
});

const statuses = (...codes: readonly number[]) =>
  codes.map((code): [string, Fault] => [`${code}`, faults.status(code)]);

it.each<[string, Fault]>([
  ...statuses(408, 500, 502, 503, 504),
  ["a closed connection", faults.close],
  ["a body that is cut", faults.cut(3)],
])("asks again after %s, three times in all", async (_, fault) => {
  home.script("other", [fault, fault]);
  const client = clientOf();
  const { value } = await client.fetchJson(urlOf("/document"), never);
  expect(value).toEqual({ a: 1 });
  expect(home.requests.count()).toBe(3);
  home.requests.clear();
  home.script("other", fault);
  const asked = client.fetchDocument(urlOf("/document"), 100, never);
  await expect(asked).rejects.toThrow(ProvenderError);
  expect(home.requests.count()).toBe(3);
});

it.each<[string, Fault]>([
  ...statuses(400, 401, 403, 404, 410, 429, 451, 501),
  [
    "503 with Retry-After",
    faults.status(503, { headers: { "Retry-After": "1" } }),
  ],
  ["a page for people", faults.html],
  [
    "an encoding",
    faults.all(
      faults.body(gzipSync(gzipSync("{}"))),
      faults.header("Content-Encoding", "gzip, gzip"),
    ),
  ],
  ["what is no JSON", faults.notJson],
  ["too much", faults.body("x".repeat(200_000))],
  ["a redirect to where it may not go", faults.redirect("https://10.0.0.1/")],
])("never asks again after %s", async (_, fault) => {
  home.script("other", fault);
  const client = clientOf();
  await expect(client.fetchJson(urlOf("/document"), never)).rejects.toThrow(
    ProvenderError,
  );
  expect(home.requests.count()).toBe(1);
});

it("asks again for an archive that did not begin", async () => {
  home.script("other", [faults.close, faults.status(502)]);
  const client = clientOf();
  const { size } = await client.openArchive(urlOf("/archive"), never);
  expect(size).toBe(1_000);
  expect(home.requests.count()).toBe(3);
});

it("stops when the host is suspended meanwhile, and reports the failure", async () => {
  home.script("other", faults.status(502));
  const client = clientOf();
  const ask = () => client.fetchJson(urlOf("/document"), never);
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
  const ask = () => client.fetchJson(urlOf("/document"), never);
  for (let failure = 1; failure <= 4; failure++)
    await expect(ask()).rejects.toThrow(failing("origin-unreachable"));
  expect(client.isSuspended(urlOf("/"))).toBe(false);
  await expect(ask()).rejects.toThrow(failing("origin-unreachable"));
  expect(client.isSuspended(urlOf("/"))).toBe(true);
});

it("sends nothing to a host that asked for a pause", async () => {
  const pause = faults.status(429, { headers: { "Retry-After": "30" } });
  home.script("other", pause);
  const client = clientOf();
  const ask = () => client.fetchJson(urlOf("/document"), never);
  for (let times = 0; times < 20; times++)
    await expect(ask()).rejects.toThrow(/asked too often/);
  expect(home.requests.count()).toBe(1);
});
