import { once } from "node:events";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createAuthority, type Authority } from "./authority.ts";
import { barrier } from "./barrier.ts";
import * as faults from "./faults.ts";
import { fetchOnce, openOnce } from "./fetching.ts";
import { startRegistry, type Registry } from "./registry.ts";
import type { ReleaseArchive } from "./release.ts";

let authority: Authority;
let registry: Registry;
let archive: ReleaseArchive;
let archiveUrl: string;
let discoveryUrl: string;

beforeAll(async () => {
  authority = await createAuthority();
  registry = await startRegistry({ authority });
  const release = await registry.publish({ version: "1.0.0", size: 300_000 });
  archive = release.archive("linux_amd64");
  archiveUrl = `${registry.url}archives/acme/widget/1.0.0/${archive.filename}`;
  discoveryUrl = `${registry.url}.well-known/terraform.json`;
});

afterAll(() => registry.stop());

beforeEach(() => {
  registry.heal();
  registry.requests.clear();
});

function get(url: string, headers: Record<string, string> = {}) {
  return fetchOnce(url, { ca: authority.caPem, headers });
}

it("plays a list of faults in order, then answers well", async () => {
  registry.script("discovery", [
    faults.status(503, { headers: { "Retry-After": "1" } }),
    faults.html,
    faults.normal,
    faults.notJson(),
  ]);
  const answers = [];
  for (let at = 0; at < 5; at++) answers.push(await get(discoveryUrl));

  expect(answers.map(({ status }) => status)).toEqual([
    503, 200, 200, 200, 200,
  ]);
  expect(answers[0]?.headers["retry-after"]).toBe("1");
  expect(answers[1]?.headers["content-type"]).toMatch("text/html");
  expect(answers[3]?.body.toString()).toBe('{"versions": [');
  expect(JSON.parse(answers[4]?.body.toString() ?? "")).toEqual(
    registry.services,
  );
});

it("keeps one fault until it is healed, for the paths it is meant for", async () => {
  registry.script(
    "archive",
    faults.onlyFor(/linux/, faults.redirect("/elsewhere", 307)),
  );
  const statuses = [
    (await get(archiveUrl)).status,
    (await get(archiveUrl)).status,
  ];
  statuses.push((await get(archiveUrl.replace("linux", "windows"))).status);
  registry.heal();
  statuses.push((await get(archiveUrl)).status);

  expect(statuses).toEqual([307, 307, 404, 200]);
});

it.each([
  ["cut", faults.cut(1000), false],
  ["cutChunked", faults.cutChunked(1000), false],
  ["cutUnannounced", faults.cutUnannounced(1000), true],
])("ends the body early with %s", async (_, fault, whole) => {
  registry.script("archive", fault);
  const fetched = await get(archiveUrl);

  expect(fetched.whole).toBe(whole);
  expect(fetched.body.equals(archive.bytes.subarray(0, 1000))).toBe(true);
});

it("alters one byte only", async () => {
  registry.script("archive", faults.alteredByte(-1));
  const { body } = await get(archiveUrl);
  const last = archive.bytes.length - 1;

  expect(body.subarray(0, last).equals(archive.bytes.subarray(0, last))).toBe(
    true,
  );
  expect(body[last]).not.toBe(archive.bytes[last]);
});

it("sends more than it announced", async () => {
  registry.script("archive", faults.excess(10));
  const sent = await get(archiveUrl);
  const [logged] = registry.requests.list("archive");

  expect(sent.headers["content-length"]).toBe(String(archive.bytes.length));
  expect(logged?.bodyBytes).toBe(archive.bytes.length + 10);
});

it("edits a document under another media type", async () => {
  registry.script(
    "discovery",
    faults.all(
      faults.json((document) => ({ ...document, "login.v1": {} })),
      faults.mediaType("text/plain"),
    ),
  );
  const { headers, body } = await get(discoveryUrl);

  expect(headers["content-type"]).toBe("text/plain");
  expect(JSON.parse(body.toString())).toEqual({
    ...registry.services,
    "login.v1": {},
  });
});

it("wants a token", async () => {
  registry.script("discovery", faults.tokenRequired("sesame"));
  const without = await get(discoveryUrl);
  const wrong = await get(discoveryUrl, { Authorization: "Bearer x" });
  const right = await get(discoveryUrl, { Authorization: "Bearer sesame" });

  expect([without, wrong, right].map(({ status }) => status)).toEqual([
    401, 401, 200,
  ]);
});

it("grows a body that announces itself honestly", async () => {
  registry.script("archive", faults.grown(10));
  const { headers, body } = await get(archiveUrl);

  expect(headers["content-length"]).toBe(String(archive.bytes.length + 10));
  expect(body.length).toBe(archive.bytes.length + 10);
});

it("closes the connection without an answer", async () => {
  registry.script("archive", faults.close);

  await expect(get(archiveUrl)).rejects.toThrow("socket hang up");
});

it("hangs until the client goes", async () => {
  registry.script("archive", faults.hang);
  const leaving = new AbortController();
  const answer = fetchOnce(archiveUrl, {
    ca: authority.caPem,
    signal: leaving.signal,
  });
  const refused = expect(answer).rejects.toThrow();
  await registry.requests.reach("archive");
  leaving.abort();
  await refused;

  expect(await registry.requests.list("archive")[0]?.ended).toBe("cut");
});

it("holds answers at a barrier before the headers, and counts them", async () => {
  const held = barrier();
  registry.script("archive", held.beforeHeaders);
  const answers = Promise.all([get(archiveUrl), get(archiveUrl)]);
  await held.arrived(2);
  held.release();

  expect((await answers).every(({ whole }) => whole)).toBe(true);
  expect(registry.requests.peak("archive")).toBe(2);
});

it("holds an answer after a number of body bytes, all of which arrive", async () => {
  const held = barrier();
  registry.script("archive", held.afterBytes(70_000));
  const response = await openOnce(archiveUrl, { ca: authority.caPem });
  await held.reached;
  let received = 0;
  while (received < 70_000) {
    const [piece] = (await once(response, "data")) as [Buffer];
    received += piece.length;
  }
  expect(received).toBe(70_000);
  expect(registry.requests.list("archive")[0]?.bodyBytes).toBe(70_000);

  held.release();
  response.resume();
  await once(response, "end");
});

it("keeps to a rate", async () => {
  registry.script("archive", faults.slow(1_000_000));
  const start = performance.now();
  await get(archiveUrl);
  const took = performance.now() - start;

  expect(took).toBeGreaterThan(290);
});

it("refuses connections when stopped, and comes back on its port", async () => {
  registry.script("archive", faults.hang);
  const answer = expect(get(archiveUrl)).rejects.toThrow();
  await registry.requests.reach("archive");
  await registry.stop();
  await answer;
  await expect(get(archiveUrl)).rejects.toThrow("ECONNREFUSED");
  await registry.restart();
  registry.heal();

  expect((await get(archiveUrl)).status).toBe(200);
});
