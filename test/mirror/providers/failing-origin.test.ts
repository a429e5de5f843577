import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { Agent } from "node:https";
import { basename, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { heldWhole } from "../../../src/mirror/archives/download.ts";
import { digestOf } from "../../fakes/archive.ts";
import { barrier } from "../../fakes/barrier.ts";
import * as faults from "../../fakes/faults.ts";
import type { Fault } from "../../fakes/faults.ts";
import { startRegistry } from "../../fakes/registry.ts";
import { type Release, sha256Of } from "../../fakes/release.ts";
import type { RequestKind } from "../../fakes/request-log.ts";
import { originsOf } from "../../origins.ts";
import {
  type Answer,
  blobOf,
  openAnswer,
  readAnswer,
  startMirror,
} from "../../running-mirror.ts";
import { awaitHit } from "../../scenes/log-lines.ts";
import { requestsFor } from "../../scenes/provider-requests.ts";
import { startOrigin } from "../../scenes/world.ts";

/** The token of the origin, and what is signed into its URLs. */
const secret = "not-for-anybody-else";

const { authority, registry } = await startOrigin();
/** Nobody is to ask it. */
const canary = await startRegistry({ authority });
const mirror = await startMirror({
  config: {
    ...originsOf(authority, registry, { token: { env: "ORIGIN_TOKEN" } }),
    freshness: { versions: "0" },
    limits: { archive: "10MiB" },
  },
  // Small, so that tests are fast, but long enough for a machine that is busy.
  limits: { firstByte: 2_000, answer: 3_000 },
  env: { ORIGIN_TOKEN: secret },
});

type Question = "index" | "version" | "archive";

function pathOf({ type }: Release, question: Question): string {
  const document = {
    index: "index.json",
    version: "1.0.0.json",
    archive: `terraform-provider-${type}_1.0.0_linux_amd64.zip`,
  }[question];
  return `/providers/registry.terraform.io/acme/${type}/${document}`;
}

const ask = (release: Release, question: Question) =>
  mirror.get(pathOf(release, question));

let names = 0;
/** Publishes a release that no client has requested, so that it is unknown. */
const publish = (size = 300_000): Promise<Release> =>
  registry.publish({ type: `demo${(names += 1)}`, version: "1.0.0", size });

const isStored = (release: Release) =>
  existsSync(blobOf(mirror, sha256Of(release)));

// Code that runs for the first time may take longer than this answer may.
await awaitHit(mirror, pathOf(await publish(), "archive"));
registry.requests.clear();

/** The contract's error body and headers, and nothing of what was secret. */
function expectRefusal(answer: Answer, status: number, code: string): void {
  expect([answer.status, answer.json()]).toEqual([
    status,
    {
      errors: [expect.stringMatching(/^[^\n]+\.$/) as string],
      remedy: expect.stringMatching(/^[a-z]/) as string,
      code,
      requestId: expect.stringMatching(/^[\da-f-]{36}$/) as string,
    },
  ]);
  expect(answer.complete).toBe(true);
  expect(answer.headers["content-type"]).toBe("application/json");
  expect(answer.headers["cache-control"]).toBe("no-store");
  expect(answer.body.toString()).not.toMatch(/\?|not-for-anybody-else/);
  const retryAfter = Number(answer.headers["retry-after"]);
  if (status > 500) expect([1, 2, 3, 4, 5]).toContain(retryAfter);
  else expect(answer.headers["retry-after"]).toBeUndefined();
}

async function expectHealed(release: Release, question: Question) {
  registry.heal();
  const answer = await ask(release, question);
  expect([answer.status, answer.complete]).toEqual([200, true]);
  if (question === "index")
    expect(answer.json()).toEqual({ versions: { "1.0.0": {} } });
  if (question === "version")
    expect(answer.body.toString()).toContain(`zh:${sha256Of(release)}`);
  if (question === "archive")
    expect(digestOf(answer.body)).toBe(sha256Of(release));
}

/** Every URL in a package document carries a signature, as those of object stores do. */
const signedUrls: Fault = faults.json((document) => ({
  ...document,
  download_url: `${String(document.download_url)}?signature=${secret}`,
  shasums_url: `${String(document.shasums_url)}?signature=${secret}`,
}));

afterEach(() => registry.heal());

const toCanary = (scheme: string) =>
  faults.redirect(
    `${scheme}://127.0.0.1:${new URL(canary.url).port}/?signature=${secret}`,
  );

/** A fault and the outcome, by default `502 origin-answer`. */
type Faults = Readonly<
  Record<string, readonly [fault: Fault, outcome?: string]>
>;

const [absent, statusOf] = ["404 not-found", "502 origin-status"];
const [credentials, unsigned] = [
  "502 origin-credentials",
  "451 signature-refused",
];
const elsewhere = "502 origin-address-refused";

/** Faults before the first byte of a document or archive. */
const anywhere: Faults = {
  "answers with a page for people": [faults.html],
  "answers 500": [faults.status(500), statusOf],
  "answers 403": [faults.status(403), credentials],
  "answers 204": [faults.status(204), statusOf],
  hangs: [faults.hang, "504 origin-timeout"],
  "closes the connection": [faults.close, "502 origin-unreachable"],
  "redirects to another port of the loopback": [toCanary("https"), elsewhere],
  "redirects to plain http": [toCanary("http"), elsewhere],
  "redirects to a private address": [
    faults.redirect(`https://10.1.2.3/?signature=${secret}`),
    elsewhere,
  ],
  "redirects in a circle": [
    (reply, request) => {
      const here = request.path.replace(/\?.*/, "");
      return faults.redirect(`${here}?again`)(reply, request);
    },
  ],
  "redirects nowhere": [faults.status(302)],
};

const tooLarge = faults.body(
  `{"versions":[],"padding":"${"x".repeat(8 * 2 ** 20)}"}`,
);

/** Faults of a JSON document. */
const json: Faults = {
  "is not JSON": [faults.notJson],
  "has another shape": [faults.body('["providers.v1"]')],
  "is null": [faults.body("null")],
  "alters one byte": [faults.alteredByte(0)],
  "cuts the body": [faults.cut(10)],
  "cuts a chunked body": [faults.cutChunked(10)],
  "cuts a body of unknown length": [faults.cutUnannounced(10)],
  "sends more than the limit": [tooLarge],
  "sends more than the limit without a length": [
    faults.all(tooLarge, faults.chunked),
  ],
};

const gone: Faults = { "answers 404": [faults.status(404), absent] };
const missing: Faults = { "answers 404": [faults.status(404), statusOf] };

describe.each<[RequestKind, Question, Faults]>([
  ["discovery", "index", { ...missing, ...json }],
  ["versions", "index", { ...gone, ...json }],
  ["versions", "version", { ...gone, ...json }],
  ["package", "version", { ...gone, ...json }],
  [
    "checksums",
    "version",
    {
      ...gone,
      "cuts the body": [faults.cut(10)],
      "cuts a chunked body": [faults.cutChunked(10)],
      "cuts a body of unknown length": [faults.cutUnannounced(10), unsigned],
      "alters one byte": [faults.alteredByte(5), unsigned],
      "sends more than was signed": [faults.grown(1), unsigned],
      "sends more than the limit": [faults.grown(1024 * 1024)],
    },
  ],
  [
    "signature",
    "version",
    {
      ...gone,
      "cuts the body": [faults.cut(10)],
      "cuts a body of unknown length": [faults.cutUnannounced(10), unsigned],
      "alters one byte": [faults.alteredByte(-1), unsigned],
      "sends more than the limit": [faults.grown(20_000)],
    },
  ],
  [
    "archive",
    "archive",
    {
      ...missing,
      "cuts the body early": [faults.cut(1000)],
      "cuts a chunked body early": [faults.cutChunked(1000)],
      "sends more than the limit": [faults.grown(11 * 1024 * 1024)],
    },
  ],
])("an origin whose %s, asked for the %s,", (kind, question, own) => {
  it.each(Object.entries({ ...anywhere, ...own }))(
    "%s: the contract's status, nothing stored, healed at once",
    async (_, [fault, outcome = "502 origin-answer"]) => {
      const [status = "", code = ""] = outcome.split(" ");
      const release = await publish();
      if (kind !== "package") registry.script("package", signedUrls);
      registry.script(kind, fault);
      const answer = await ask(release, question);
      expectRefusal(answer, Number(status), code);
      expect(isStored(release)).toBe(false);
      if (status !== "404") await expectHealed(release, question);
    },
  );
});

it("while the list of versions cannot be had, the known one is served with its age, and what it has not is asked for, and absent only when the origin says so", async () => {
  const release = await publish();
  await ask(release, "index");
  await ask(release, "version");
  const { type } = release;
  for (const version of ["2.0.0", "3.0.0"])
    await registry.publish({ type, version });
  registry.script("versions", faults.status(500));
  const { index, version } = requestsFor(mirror, type);
  const listed = await index();
  expect(listed.json()).toEqual({ versions: { "1.0.0": {} } });
  expect((await version("2.0.0")).status).toBe(200);
  expectRefusal(await version("4.0.0"), 404, "not-found");
  registry.script("package", faults.status(500));
  expectRefusal(await version("3.0.0"), 502, "origin-status");
  const known = await version("1.0.0");
  for (const { status, headers } of [listed, known]) {
    expect(status).toBe(200);
    expect(headers.age).toMatch(/^\d+$/);
  }
});

/** What came wrong is refused at once for minutes. */
async function expectRemembered(release: Release): Promise<void> {
  registry.heal();
  registry.requests.clear();
  expectRefusal(await ask(release, "archive"), 451, "archive-digest");
  expect(registry.requests.count("archive")).toBe(0);
}

it("an archive that is cut on its way is whole with one more request, and never where that goes on with other bytes", async () => {
  const release = await publish();
  registry.script("archive", [faults.cut(200_000)]);
  registry.requests.clear();
  const { complete, body } = await ask(release, "archive");
  expect([complete, digestOf(body)]).toEqual([true, sha256Of(release)]);
  expect(registry.requests.count("archive")).toBe(2);
  // Clients need not wait for the disk.
  await expect.poll(() => isStored(release)).toBe(true);
  const other = await publish();
  registry.script("archive", [faults.cut(200_000), faults.alteredByte(-1)]);
  expectRefusal(await ask(other, "archive"), 451, "archive-digest");
  expect(isStored(other)).toBe(false);
  await expectRemembered(other);
});

/** Nothing says what the rest would be the rest of. */
const untagged: Fault = (reply) => {
  const named = Object.entries(reply.headers);
  const headers = Object.fromEntries(named.filter(([name]) => name !== "ETag"));
  return { ...reply, headers };
};
const endless = faults.all(faults.grown(10 * 1024 * 1024), faults.chunked);

it.each<[string, Fault, "is refused" | "is whole"]>([
  ["with another last byte", faults.alteredByte(-1), "is refused"],
  ["with a byte too many", faults.grown(1), "is refused"],
  ["cut", faults.all(untagged, faults.cut(200_000)), "is whole"],
  ["larger than the limit without a length", endless, "is whole"],
])(
  "an archive larger than 8 MiB that comes %s is a cut transfer, and the next one %s",
  async (_, fault, then) => {
    const release = await publish(heldWhole + 300_000);
    const held = barrier();
    // The answer has begun before the transfer goes wrong.
    registry.script("archive", faults.all(fault, held.afterBytes(69_000)));
    const agent = new Agent({ ca: readFileSync(mirror.caFile) });
    const url = new URL(pathOf(release, "archive"), mirror.url);
    const opened = await openAnswer(url, agent);
    held.release();
    const { status, body, complete } = await readAnswer(opened);
    expect([status, complete]).toEqual([200, false]);
    expect(digestOf(body)).not.toBe(sha256Of(release));
    expect(isStored(release)).toBe(false);
    if (then === "is refused") await expectRemembered(release);
    else await expectHealed(release, "archive");
  },
);

it("after all of this the mirror has logged no secret and asked no address that was refused, and the store has what its names say alone", async () => {
  expect(mirror.log.length).toBeGreaterThan(50);
  expect(JSON.stringify(mirror.log)).not.toContain(secret);
  expect(canary.connections).toBe(0);
  for (const { headers } of registry.requests)
    expect(headers.authorization).toBe(`Bearer ${secret}`);
  await mirror.stop();
  const { directory } = mirror;
  const files = globSync("blobs/v1/sha256/*/*", { cwd: directory });
  expect(files.length).toBeGreaterThan(5);
  for (const file of files)
    expect(digestOf(readFileSync(join(directory, file)))).toBe(basename(file));
  expect(readdirSync(join(directory, "staging"))).toEqual([]);
});
