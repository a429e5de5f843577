import { describe, expect, it } from "vitest";
import {
  digestsIn,
  eventually,
  listedIn,
  requestsFor,
  runCommand,
} from "../../scenes/provider-requests.ts";
import { digestsOf } from "../../scenes/provider-requests.ts";
import { signer, soon, TrustScene } from "../../scenes/trust-scene.ts";

const host = "registry.terraform.io";
const nothing = { command: "nothing", sha256sums: "nothing" };
const stolen = "A".repeat(40);

const scene = await TrustScene.start();

const run = (...args: readonly string[]) =>
  runCommand(scene.mirror, "trust", ...args);

/** Runs a command as it is printed. */
function decide(command: string | null | undefined): Promise<string> {
  expect(command).toMatch(/^provender trust /);
  return scene.trust(...(command ?? "").split(" ").slice(2));
}

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
  "approve acme/thing",
  "approve acme/thing@~> 1.0",
  "approve acme/thing@1.0.0 --for acme",
  "approve --key 9472D7468F --for acme",
  `approve --key ${stolen}`,
  `approve --key ${stolen} acme --for acme`,
  `approve --key ${stolen} acme ${"0".repeat(16)}`,
  `approve --key ${stolen} --for registry.terrafrom.io/acme`,
  "reset acme/thing@1.0.0",
  `approve acme/thing@1.0.0 --sha256sums ${"0".repeat(16)}`,
])("trust %s is a mistake", async (line) => {
  const { status, stdout, stderr } = await run(...line.split(/ (?!1)/));
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/^(?! {4}at ).+/);
});

describe("a decision on a key", () => {
  it("counts for a namespace, a provider or a release, by the number of parts", async () => {
    const { stranger } = await scene.refuseNext("scopes");
    const other = { type: "other", seed: "scopes" };
    await scene.publish("scopes", "1.1.0", stranger, other);
    await scene.publish("scopes", "1.2.0", stranger);
    const key = ["--key", stranger.fingerprint, "--for"];
    await scene.trust("approve", ...key, "scopes/thing@1.1.0");
    await scene.expectOutcome("scopes", "1.1.0", "200");
    await scene.expectOutcome("scopes", "1.2.0", "451 key-refused");
    await scene.trust("approve", ...key, "scopes/thing");
    await scene.expectOutcome("scopes", "1.2.0", "200");
    expect(await scene.trust("revoke", ...key, `${host}/scopes`)).toMatch(
      /: .*thing 1\.1\.0, thing 1\.2\.0 and later releases under it are refused from now on/,
    );
    await scene.expectOutcome("scopes", "1.1.0", "451 key-refused");
    const wider = await run("approve", ...key, "scopes/thing@1.2.0");
    expect(wider.status).toBe(1);
    expect(wider.stderr).toMatch(/revoked by \S+ on \S+ for \S+\/scopes:/);
    await scene.trust("approve", ...key, "scopes");
    await scene.expectOutcome("scopes", "1.1.0", "200");
    const again = await run("approve", ...key, "scopes");
    expect(again.status).toBe(1);
    expect(again.stdout).toContain("is approved already");
  });

  it("names the revocations that an approval for more does not undo", async () => {
    const { stranger } = await scene.refuseNext("partly");
    const key = ["--key", stranger.fingerprint, "--for"];
    await scene.trust("revoke", ...key, "partly/thing");
    const approved = await run("approve", ...key, "partly");
    expect(approved.status).toBe(1);
    expect(approved.stdout).toMatch(
      /It stays revoked by \S+ on \S+ for \S+\/partly\/thing\./,
    );
  });

  it.each<
    [
      before: readonly string[],
      decision: string,
      by: "known" | "stranger" | "stolen",
      status: number,
      says: RegExp,
      inForce: string | undefined,
    ]
  >([
    [[], "approve", "stolen", 1, /is not approved, since no/, undefined],
    [[], "revoke", "stolen", 0, /in advance/, "revoked"],
    [["revoke"], "revoke", "stolen", 1, /already/, "revoked"],
    // Who takes a precaution back trusts nobody by it.
    [["revoke"], "approve", "stolen", 1, /provender trust forget/, "revoked"],
    [["revoke"], "forget", "stranger", 0, /, it was revoked/, undefined],
    [["revoke"], "approve", "stranger", 0, /, it was revoked/, "approved"],
    [["approve"], "forget", "stranger", 0, /, it was approved/, undefined],
    [[], "forget", "stolen", 1, /is not decided on for/, undefined],
    [[], "revoke", "known", 0, /: thing 1\.0\.0 and[^]*first co/, "revoked"],
    [["revoke"], "forget", "known", 0, /is known by first contact/, undefined],
  ])(
    "after %j: %s a %s key ends with %i and %s, and %s is in force",
    async (before, decision, by, status, says, inForce) => {
      const namespace = `table-${[...before, decision, by].join("-")}`;
      const { known, stranger } = await scene.refuseNext(namespace);
      const keys = { known, stranger, stolen: { fingerprint: stolen } };
      const { fingerprint } = keys[by];
      const of = ["--key", fingerprint, "--for", `${namespace}/thing`];
      for (const earlier of before) await scene.trust(earlier, ...of);
      const ended = await run(decision, ...of);
      expect(ended.stdout + ended.stderr).toMatch(says);
      expect(ended.status).toBe(status);
      const listed = await scene.listedTrust(namespace);
      expect(
        listed?.keys.find((key) => key.fingerprint === fingerprint)?.decision,
      ).toBe(inForce);
      const own = (name: string) => (name === by ? inForce : undefined);
      await scene.expectOutcome(
        namespace,
        "1.0.0",
        own("known") === "revoked" ? "451 key-refused" : "200",
      );
      await scene.expectOutcome(
        namespace,
        "1.1.0",
        own("stranger") === "approved" ? "200" : "451 key-refused",
      );
      const events = ["approved", "revoked", "forgotten"].flatMap((event) =>
        scene.auditOf(namespace, event),
      );
      expect(events).toHaveLength(before.length + (status === 0 ? 1 : 0));
      for (const event of events)
        expect(event).toMatchObject({
          ...{ provider: `${host}/${namespace}/thing`, fingerprint },
        });
    },
  );

  it("is taken back to what first contact made of it, which counts for its own provider", async () => {
    await scene.contact("two", await signer("Known"));
    const own = await signer("Own");
    await scene.publish("two", "1.0.0", own, { type: "other", seed: "two" });
    const other = requestsFor(scene.mirror, "other", "two");
    expect(await other.outcome("1.0.0")).toBe("200");
    for (const [scope, says] of [
      ["two/other", "is known by first contact"],
      ["two", "is not decided on"],
    ] as const) {
      const key = ["--key", own.fingerprint, "--for", scope];
      await scene.trust("revoke", ...key);
      expect(await scene.trust("forget", ...key)).toContain(says);
      expect(await other.outcome("1.0.0")).toBe("200");
    }
  });

  it("is told with its scope at every face, and no advice undoes it", async () => {
    const known = await signer("Known");
    await scene.contact("told", known);
    const key = ["--key", known.fingerprint, "--for", "told/thing"];
    await scene.trust("revoke", ...key, "--because", "not their key");
    await expect
      .poll(() => facesOf("told", "1.0.0"))
      .toEqual(refused("key-refused"));
    const answer = await scene.ask("told").version("1.0.0");
    expect(answer.reason).toMatch(/was revoked by \S+ on/);
    const { stdout, status } = await explain("told/thing@1.0.0");
    expect(status).toBe(1);
    for (const text of [answer.body.toString(), stdout]) {
      expect(text).toMatch(
        /was revoked by \S+ on \d{4}-\d\d-\d\d for registry\.terraform\.io\/told\/thing: not their key/,
      );
      expect(text).not.toContain("trust approve");
    }
    await scene.trust("forget", ...key);
    await expect.poll(() => facesOf("told", "1.0.0")).toEqual(served);
  });
});

describe("the approval of a content", () => {
  it("takes the only candidate, makes no key known, and is undone completely", async () => {
    const { stranger } = await scene.refuseNext("sole");
    const [{ sha256sums } = nothing] = await scene.candidatesOf("sole");
    const output = await scene.trust("approve", "sole/thing@1.1.0");
    expect(output).toContain(`SHA256SUMS ${sha256sums}`);
    expect(output).toContain(stranger.fingerprint);
    expect(await scene.listedTrust("sole")).toMatchObject({
      ...{ candidates: [], contents: [{ sha256sums }], keys: [] },
    });
    await scene.expectOutcome("sole", "1.1.0", "200");
    await scene.publish("sole", "1.2.0", stranger);
    await scene.expectOutcome("sole", "1.2.0", "451 key-refused");
    const again = await run("approve", "sole/thing@1.1.0");
    expect([again.status, again.stderr]).toEqual([1, ""]);
    expect(again.stdout).toContain("is approved already");
    const forgotten = await scene.trust("forget", "sole/thing@1.1.0");
    expect(forgotten).toContain(
      `is not decided on with SHA256SUMS ${sha256sums}`,
    );
    expect(forgotten).toMatch(/\nBefore, it was approved by \S+ on \d{4}-/);
    await scene.expectOutcome("sole", "1.1.0", "451 key-refused");
    expect(await scene.listedTrust("sole")).toMatchObject({
      candidates: [{ version: "1.2.0" }, { version: "1.1.0" }],
      contents: [],
    });
  });

  it("takes exactly the row of the printed command, and the pinned content comes back", async () => {
    const known = await signer("Known");
    const first = await scene.publish("rows", "1.0.0", known);
    const got = async () => digestsIn(await scene.ask("rows").version("1.0.0"));
    expect(await got()).toEqual(digestsOf(first));
    const offers = [];
    for (const seed of ["second", "third"]) {
      offers.push(await scene.publish("rows", "1.0.0", known, { seed }));
      expect(await got()).toEqual(digestsOf(first));
    }
    const candidates = await scene.candidatesOf("rows");
    expect(candidates.map(({ reason }) => reason)).toEqual([
      ...["other-content", "other-content"],
    ]);
    const unclear = await run("approve", "rows/thing@1.0.0");
    expect(unclear.status).toBe(1);
    for (const { command } of candidates)
      expect(unclear.stderr).toContain(command);
    const [second] = candidates;
    await decide(second?.command);
    const wanted = JSON.stringify(digestsOf(offers[0] ?? first));
    const isWanted = (found: unknown) => JSON.stringify(found) === wanted;
    await eventually(got, isWanted, soon);
    expect(await scene.candidatesOf("rows")).toHaveLength(1);
    await decide(second?.command?.replace(" approve ", " forget "));
    await eventually(got, (found) => !isWanted(found), soon);
    expect(await got()).toEqual(digestsOf(first));
    expect(await scene.candidatesOf("rows")).toHaveLength(2);
  });

  it("is refused for what was not named exactly, which changes nothing", async () => {
    await scene.refuseNext("typos");
    const [{ command, sha256sums } = nothing] =
      await scene.candidatesOf("typos");
    const before = await scene.trust("list", "--json");
    const spec = "typos/thing@1.1.0";
    const flipped = (sha256sums.startsWith("0") ? "1" : "0").repeat(8);
    for (const [status, says, ...args] of [
      [1, "has no content whose", "approve", spec, flipped],
      [1, command, "approve", spec, flipped],
      [2, "8 to 64 hex", "approve", spec, sha256sums.slice(0, 7)],
      [2, "8 to 64 hex", "approve", spec, "unknown-digits"],
      [1, "trust list", "approve", "typos/thnig@1.1.0"],
      [1, "trust list", "approve", "typos/thing@1.2.0"],
      [1, "no contents that are decided on", "forget", spec],
    ] as const) {
      const failed = await run(...args);
      expect([failed.status, failed.stdout]).toEqual([status, ""]);
      expect(failed.stderr).toContain(says);
    }
    expect(await scene.trust("list", "--json")).toBe(before);
  });

  it("is not made while its key is revoked, which it quotes without advising anything", async () => {
    const { stranger } = await scene.refuseNext("revoked");
    const [{ sha256sums } = nothing] = await scene.candidatesOf("revoked");
    const key = ["--key", stranger.fingerprint, "--for", "revoked/thing"];
    await scene.trust("revoke", ...key);
    expect(await scene.candidatesOf("revoked")).toEqual([]);
    const content = ["revoked/thing@1.1.0", sha256sums];
    const failed = await run("approve", ...content);
    expect(failed.status).toBe(1);
    expect(failed.stderr).toMatch(
      new RegExp(
        `its key ${stranger.fingerprint} was revoked by \\S+ on \\S+ for ${host}/revoked/thing`,
      ),
    );
    expect(failed.stderr).not.toContain("provender trust");
    await scene.trust("forget", ...key);
    await scene.trust("approve", ...content);
    await scene.expectOutcome("revoked", "1.1.0", "200");
  });

  it("waits for the configuration, where pins exclude its key", async () => {
    const { known } = await scene.refuseNext("pinned");
    const match = `${host}/pinned/*`;
    const trust = { keys: [{ match, fingerprints: [known.fingerprint] }] };
    await scene.revive({ trust });
    try {
      expect(await scene.candidatesOf("pinned")).toMatchObject([
        { command: null, setting: "trust.keys" },
      ]);
      const failed = await run("approve", "pinned/thing@1.1.0");
      expect(failed.status).toBe(1);
      expect(failed.stderr).toContain(`"trust.keys" excludes its key`);
    } finally {
      await scene.revive();
    }
    expect((await scene.candidatesOf("pinned"))[0]?.command).not.toBeNull();
  });

  it("is urgent: under a minimum age it is served, and not those below it", async () => {
    const own = await scene.startMirror({ policy: { minimumAge: "7d" } });
    const known = await signer("Known");
    const signedAt = new Date(Date.now() - 30 * 86_400_000);
    await scene.publish("urgent", "1.0.0", known, { signedAt });
    expect(await facesOf("urgent", "1.0.0", own)).toEqual(served);
    for (const version of ["1.0.1", "1.0.2"])
      await scene.publish("urgent", version, known);
    const young = refused("too-young");
    expect(await facesOf("urgent", "1.0.2", own)).toEqual(young);
    const decideThere = (deed: string) =>
      runCommand(own, "trust", deed, "urgent/thing@1.0.2");
    const approved = await decideThere("approve");
    expect([approved.status, approved.stderr]).toEqual([0, ""]);
    expect(approved.stdout).toContain("clients get exactly this content");
    await expect.poll(() => facesOf("urgent", "1.0.2", own)).toEqual(served);
    expect(await facesOf("urgent", "1.0.1", own)).toEqual(young);
    expect((await decideThere("forget")).status).toBe(0);
    await expect.poll(() => facesOf("urgent", "1.0.2", own)).toEqual(young);
  });
});

it("a revoked content is refused though its key is known, quoted, and served again once that is forgotten", async () => {
  await scene.contact("recalled", await signer("Known"));
  await scene.trust("revoke", "recalled/thing@1.0.0", "--because", "bad build");
  await expect
    .poll(() => facesOf("recalled", "1.0.0"))
    .toEqual(refused("content-revoked"));
  const { stdout } = await explain("recalled/thing@1.0.0");
  expect(stdout).toMatch(
    /was revoked by \S+ on \S+ for \S+@1\.0\.0: bad build/,
  );
  expect(stdout).not.toContain("provender trust");
  expect(await scene.candidatesOf("recalled")).toEqual([]);
  await scene.trust("forget", "recalled/thing@1.0.0");
  await expect.poll(() => facesOf("recalled", "1.0.0")).toEqual(served);
});
