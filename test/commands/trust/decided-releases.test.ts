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

it.each([
  {
    ...{ of: "key", namespace: "told", code: "key-refused" },
    about: (fingerprint: string) => [
      ...["--key", fingerprint, "--for", "told/thing"],
    ],
    scope: "told/thing",
  },
  {
    ...{ of: "content", namespace: "recalled", code: "content-revoked" },
    about: () => ["recalled/thing@1.0.0"],
    scope: "recalled/thing@1.0.0",
  },
])(
  "a revoked $of is told by the decision and its scope, at every face, no advice undoes it, and what is forgotten is served",
  async ({ namespace, code, about, scope }) => {
    const known = await signer("Known");
    await scene.contact(namespace, known);
    const subject = about(known.fingerprint);
    await scene.trust("revoke", ...subject, "--because", "not their build");
    await expect.poll(() => facesOf(namespace, "1.0.0")).toEqual(refused(code));
    const answer = await scene.ask(namespace).version("1.0.0");
    expect(answer.reason).toMatch(/revoked by \S+ on/);
    const { stdout, status } = await explain(`${namespace}/thing@1.0.0`);
    expect(status).toBe(1);
    const quoted = new RegExp(
      `was revoked by \\S+ on \\d{4}-\\d\\d-\\d\\d for registry\\.terraform\\.io/${scope}: not their build`,
    );
    for (const text of [answer.body.toString(), stdout]) {
      expect(text).toMatch(quoted);
      expect(text).not.toContain("trust approve");
    }
    expect(await scene.candidatesOf(namespace)).toEqual([]);
    await scene.trust("forget", ...subject);
    await expect.poll(() => facesOf(namespace, "1.0.0")).toEqual(served);
  },
);

it("an urgent release is served under a minimum age once its content is approved, and not those below it", async () => {
  const own = await scene.startMirror({ policy: { minimumAge: "7d" } });
  const known = await signer("Known");
  const old = new Date(Date.now() - 30 * 86_400_000);
  await scene.publish("urgent", "1.0.0", known, { signedAt: old });
  expect(await facesOf("urgent", "1.0.0", own)).toEqual(served);
  for (const version of ["1.0.1", "1.0.2"])
    await scene.publish("urgent", version, known);
  expect(await facesOf("urgent", "1.0.2", own)).toEqual(refused("too-young"));
  const decide = (deed: string) =>
    runCommand(own, "trust", deed, "urgent/thing@1.0.2");
  const approved = await decide("approve");
  expect([approved.status, approved.stderr]).toEqual([0, ""]);
  expect(approved.stdout).toContain("clients get exactly this content");
  await expect.poll(() => facesOf("urgent", "1.0.2", own)).toEqual(served);
  expect(await facesOf("urgent", "1.0.1", own)).toEqual(refused("too-young"));
  expect((await decide("forget")).status).toBe(0);
  await expect
    .poll(() => facesOf("urgent", "1.0.2", own))
    .toEqual(refused("too-young"));
});
