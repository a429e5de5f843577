import { expect, it } from "vitest";
import {
  listedIn,
  requestsFor,
  runCommand,
} from "../../scenes/provider-requests.ts";
import { signer, TrustScene } from "../../scenes/trust-scene.ts";

const scene = await TrustScene.start();

/** What clients get of a version: in the index, VERSION.json and the archive. */
async function facesOf(namespace: string, version: string, of = scene.mirror) {
  const asked = requestsFor(of, "thing", namespace);
  const index = await asked.index();
  return [
    index.status === 200 && listedIn(index).includes(version),
    await asked.outcome(version),
    await asked.delivery(version),
  ];
}

const served = [true, "200", "200"];
const refused = (code: string) => [false, `451 ${code}`, `451 ${code}`];
const explain = (spec: string) => runCommand(scene.mirror, "explain", spec);

it("a revoked key is told by the decision and its scope, at every face, and no advice undoes it", async () => {
  const known = await signer("Known");
  await scene.contact("told", known);
  const key = ["--key", known.fingerprint, "--for", "told/thing"];
  await scene.trust("revoke", ...key, "--because", "not their key");
  await expect
    .poll(() => facesOf("told", "1.0.0"))
    .toEqual(refused("key-refused"));
  const quoted =
    /was revoked by \S+ on \d{4}-\d\d-\d\d for registry\.terraform\.io\/told\/thing: not their key/;
  const answer = await scene.ask("told").version("1.0.0");
  expect(answer.reason).toMatch(/was revoked by \S+ on/);
  const { stdout, status } = await explain("told/thing@1.0.0");
  expect(status).toBe(1);
  for (const text of [answer.body.toString(), stdout]) {
    expect(text).toMatch(quoted);
    expect(text).not.toContain("trust approve");
  }
  await scene.trust("forget", ...key);
  await expect.poll(() => facesOf("told", "1.0.0")).toEqual(served);
});

it("a precaution that is taken back leaves nothing: a stranger stays one", async () => {
  const stranger = await signer("Stranger");
  await scene.contact("cautious", await signer("Known"));
  const key = ["--key", stranger.fingerprint, "--for", "cautious/thing"];
  await scene.trust("revoke", ...key);
  await scene.trust("forget", ...key);
  expect((await scene.listedTrust("cautious"))?.keys).toEqual([]);
  await scene.publish("cautious", "1.1.0", stranger);
  expect(await facesOf("cautious", "1.1.0")).toEqual(refused("key-refused"));
  expect(await scene.candidatesOf("cautious")).toHaveLength(1);
});

it("a revoked content is refused though its key is known, quoted, and served again once that is forgotten", async () => {
  await scene.contact("recalled", await signer("Known"));
  await scene.trust("revoke", "recalled/thing@1.0.0", "--because", "bad build");
  await expect
    .poll(() => facesOf("recalled", "1.0.0"))
    .toEqual([false, "451 content-revoked", "451 content-revoked"]);
  const { stdout } = await explain("recalled/thing@1.0.0");
  expect(stdout).toMatch(
    /was revoked by \S+ on \S+ for \S+@1\.0\.0: bad build/,
  );
  expect(stdout).not.toContain("provender trust");
  expect(await scene.candidatesOf("recalled")).toEqual([]);
  await scene.trust("forget", "recalled/thing@1.0.0");
  await expect.poll(() => facesOf("recalled", "1.0.0")).toEqual(served);
});

it("an urgent release is served under a minimum age once its content is approved, and not those below it", async () => {
  const own = await scene.startMirror({ policy: { minimumAge: "7d" } });
  const known = await signer("Known");
  const old = new Date(Date.now() - 30 * 86_400_000);
  await scene.publish("urgent", "1.0.0", known, { signedAt: old });
  expect(await facesOf("urgent", "1.0.0", own)).toEqual(served);
  for (const version of ["1.0.1", "1.0.2"])
    await scene.publish("urgent", version, known);
  expect(await facesOf("urgent", "1.0.2", own)).toEqual(refused("too-young"));
  const approved = await runCommand(
    own,
    "trust",
    "approve",
    "urgent/thing@1.0.2",
  );
  expect([approved.status, approved.stderr]).toEqual([0, ""]);
  expect(approved.stdout).toContain("clients get exactly this content");
  await expect.poll(() => facesOf("urgent", "1.0.2", own)).toEqual(served);
  expect(await facesOf("urgent", "1.0.1", own)).toEqual(refused("too-young"));
  const forgotten = await runCommand(
    own,
    "trust",
    "forget",
    "urgent/thing@1.0.2",
  );
  expect(forgotten.status).toBe(0);
  await expect
    .poll(() => facesOf("urgent", "1.0.2", own))
    .toEqual(refused("too-young"));
});
