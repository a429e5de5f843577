import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bearer } from "../client-token.ts";
import type { Signer } from "../fakes/signing.ts";
import { issueToken } from "../client-token.ts";
import type { Answer } from "../running-mirror.ts";
import {
  eventually,
  listedIn,
  outcomeOf,
  reconfigure,
  runCommand,
} from "../scenes/provider-requests.ts";
import { signer, TrustScene } from "../scenes/trust-scene.ts";

/** Lists stay fresh for long, so that only the operator's acts change an answer. */
const freshness = { versions: "10m" };
/** Milliseconds within which an operator's act takes effect. */
const soon = 1_000;
const deny = (namespace: string) => ({
  policy: {
    rules: [{ match: `registry.terraform.io/${namespace}/*`, action: "deny" }],
  },
});

let scene: TrustScene;
let known: Signer;
let stranger: Signer;

beforeAll(async () => {
  scene = await TrustScene.start();
  [known, stranger] = [await signer("Known"), await signer("Stranger")];
  const signedAt = new Date(Date.now() - 60_000);
  await scene.publish("aged", "1.0.0", known, { signedAt });
  expect((await scene.ask("aged").version("1.0.0")).status).toBe(200);
  for (const namespace of ["denied", "revoked", "approved", "replaced"])
    await scene.contact(namespace, known);
  await scene.publish("approved", "1.1.0", stranger);
  expect(outcomeOf(await scene.ask("approved").version("1.1.0"))).toBe(
    "451 key-refused",
  );
  await scene.publish("replaced", "1.1.0", known);
  await scene.ask("replaced").index();
  await scene.revive({ freshness });
});

afterAll(() => scene.stop());

/** Both documents of a namespace's provider, asked often enough that they are answered from where they are warm. */
async function askWarm(namespace: string, version: string) {
  const ask = scene.ask(namespace);
  let answers: [Answer, Answer] | undefined;
  for (let time = 0; time < 4; time++)
    answers = [await ask.index(), await ask.version(version)];
  if (answers === undefined) throw new Error("nothing asked");
  const [index, document] = answers;
  return { listed: listedIn(index), version: outcomeOf(document) };
}

/** Asks without a pause until the answers are as wanted, and says how long after `change` the last other one came. */
async function untilChanged(
  namespace: string,
  version: string,
  change: () => Promise<unknown>,
  wanted: { readonly listed: unknown; readonly version: string },
): Promise<void> {
  const before = await askWarm(namespace, version);
  expect(before).not.toEqual(wanted);
  let changed = Infinity;
  const done = change().then(() => (changed = performance.now()));
  let last = 0;
  for (;;) {
    const asked = performance.now();
    const now = await askWarm(namespace, version);
    if (JSON.stringify(now) === JSON.stringify(wanted)) break;
    last = Math.max(0, asked - changed);
    expect([now, last < soon]).toEqual([now, true]);
  }
  await done;
  console.info(
    `${namespace}: the last stale answer after ${last.toFixed(0)} ms`,
  );
  for (let time = 0; time < 5; time++)
    expect(await askWarm(namespace, version)).toEqual(wanted);
}

describe("a document that is answered again and again", () => {
  it("is refused within a second of SIGHUP with a rule that denies it, and allowed again", async () => {
    const refused = { listed: "policy-denied", version: "451 policy-denied" };
    const hang = (settings: Readonly<Record<string, unknown>>) => () => {
      reconfigure(scene.mirror, settings);
      return Promise.resolve();
    };
    await untilChanged("denied", "1.0.0", hang(deny("denied")), refused);
    await untilChanged("denied", "1.0.0", hang({ policy: {} }), {
      listed: ["1.0.0"],
      version: "200",
    });
  });

  it("is refused within a second of SIGHUP with a minimum age that it has not", async () => {
    const policy = { minimumAge: "7d" };
    await untilChanged(
      "aged",
      "1.0.0",
      () => {
        reconfigure(scene.mirror, { policy });
        return Promise.resolve();
      },
      { listed: "nothing-admitted", version: "451 too-young" },
    );
    reconfigure(scene.mirror, { policy: {} });
    await eventually(
      () => askWarm("aged", "1.0.0"),
      ({ version }) => version === "200",
      soon,
    );
  });

  it("is refused within a second after a command revoked its key", async () => {
    await untilChanged(
      "revoked",
      "1.0.0",
      () =>
        runCommand(
          scene.mirror,
          "trust",
          "revoke",
          "--key",
          known.fingerprint,
          "registry.terraform.io/revoked",
        ).then(({ status }) => expect(status).toBe(0)),
      { listed: "nothing-admitted", version: "451 key-refused" },
    );
  });

  it("is given within a second after a command approved it", async () => {
    await untilChanged(
      "approved",
      "1.1.0",
      () => scene.trust("approve", "approved/thing@1.1.0"),
      { listed: ["1.0.0", "1.1.0"], version: "200" },
    );
  });

  it("is refused at once when the mirror itself finds that a key is held back", async () => {
    // Newer than the list that is warm, so that only the question for it tells the mirror.
    await scene.publish("replaced", "1.2.0", stranger);
    expect((await askWarm("replaced", "1.1.0")).listed).toEqual([
      "1.0.0",
      "1.1.0",
    ]);
    expect(outcomeOf(await scene.ask("replaced").version("1.2.0"))).toBe(
      "451 key-refused",
    );
    expect(listedIn(await scene.ask("replaced").index())).toEqual([
      "1.0.0",
      "1.1.0",
    ]);
    expect(await scene.listedTrust("replaced")).toMatchObject({
      candidates: [{ version: "1.2.0" }],
    });
  });

  it("has the hash of an archive as soon as the mirror has computed it", async () => {
    await askWarm("denied", "1.0.0");
    expect((await scene.ask("denied").archive("1.0.0")).status).toBe(200);
    await eventually(
      async () => (await scene.ask("denied").version("1.0.0")).body.toString(),
      (text) => text.includes('"h1:'),
    );
  });

  it("needs a token as soon as there are tokens", async () => {
    const ci = issueToken("ci");
    await askWarm("denied", "1.0.0");
    reconfigure(scene.mirror, { auth: { tokens: [ci.configured] } });
    await eventually(
      () => askWarm("denied", "1.0.0"),
      ({ version }) => version === "401 token-needed",
      soon,
    );
    const path = "/providers/registry.terraform.io/denied/thing/1.0.0.json";
    for (let time = 0; time < 3; time++) {
      const answer = await scene.mirror.get(path, bearer(ci.token));
      expect(answer.status).toBe(200);
      expect((await scene.mirror.get(path)).status).toBe(401);
    }
  });
});
