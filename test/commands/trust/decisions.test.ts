import { describe, expect, it } from "vitest";
import {
  digestsIn,
  digestsOf,
  eventually,
  listedIn,
  runCommand,
} from "../../scenes/provider-requests.ts";
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
async function facesOf(namespace: string, version: string) {
  const asked = scene.ask(namespace);
  const index = await asked.index();
  return [
    index.status === 200 && listedIn(index).includes(version),
    await asked.outcome(version),
    await asked.delivery(version),
  ];
}

const refused = (code: string) => [false, `451 ${code}`, `451 ${code}`];

it.each([
  "approve acme/thing",
  "approve acme/thing@1.0.0 --for acme",
  "approve --key 9472D7468F --for acme",
  `approve --key ${stolen}`,
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
    await scene.trust("revoke", ...key, "scopes/thing");
    const approved = await run("approve", ...key, "scopes");
    expect(approved.status).toBe(1);
    expect(approved.stdout).toMatch(
      /It stays revoked by \S+ on \S+ for \S+\/scopes\/thing\./,
    );
  });

  it("that signed nothing here is made in advance alone, and leaves nothing once it is taken back", async () => {
    await scene.contact("ahead", await signer("Known"));
    const of = ["--key", stolen, "--for", "ahead/thing"];
    for (const [deed, status, says, inForce] of [
      ["approve", 1, /is not approved, since no/, undefined],
      ["forget", 1, /is not decided on for/, undefined],
      ["revoke", 0, /in advance/, "revoked"],
      ["revoke", 1, /already/, "revoked"],
      // Who takes a precaution back trusts nobody by it.
      ["approve", 1, /provender trust forget/, "revoked"],
      ["forget", 0, /, it was revoked/, undefined],
      ["approve", 1, /check the address and the fingerprint/, undefined],
    ] as const) {
      const ended = await run(deed, ...of);
      expect([deed, ended.status]).toEqual([deed, status]);
      expect(ended.stdout + ended.stderr).toMatch(says);
      const listed = await scene.listedTrust("ahead");
      expect(listed?.keys[0]?.decision).toBe(inForce);
    }
    expect(
      ["approved", "revoked", "forgotten"].flatMap((event) =>
        scene.auditOf("ahead", event),
      ),
    ).toMatchObject(
      ["revoked", "forgotten"].map((event) => ({
        ...{ event, provider: `${host}/ahead/thing`, fingerprint: stolen },
      })),
    );
  });
});

describe("the approval of a content", () => {
  it("takes the only candidate, and is undone completely", async () => {
    const { stranger } = await scene.refuseNext("sole");
    const [{ sha256sums } = nothing] = await scene.candidatesOf("sole");
    const output = await scene.trust("approve", "sole/thing@1.1.0");
    expect(output).toContain(`SHA256SUMS ${sha256sums}`);
    expect(output).toContain(stranger.fingerprint);
    expect(await scene.listedTrust("sole")).toMatchObject({
      ...{ candidates: [], contents: [{ sha256sums }], keys: [] },
    });
    await scene.expectOutcome("sole", "1.1.0", "200");
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
      ...{ candidates: [{ sha256sums }], contents: [] },
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
      [1, "has no contents whose", "approve", spec, flipped],
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
});

it.each([
  ["key", "key-refused", `${host}/told-key/thing`],
  ["content", "content-revoked", `${host}/told-content/thing@1.0.0`],
])(
  "a revoked %s is refused and quoted at every face without advice, and served again once that is forgotten",
  async (what, code, scope) => {
    const known = await signer("Known");
    await scene.contact(`told-${what}`, known);
    const spec = `told-${what}/thing@1.0.0`;
    const key = ["--key", known.fingerprint, "--for", `told-${what}/thing`];
    const of = what === "key" ? key : [spec];
    const faces = () => facesOf(`told-${what}`, "1.0.0");
    expect(
      await scene.trust("revoke", ...of, "--because", "not theirs"),
    ).toMatch(/thing 1\.0\.0/);
    await expect.poll(faces).toEqual(refused(code));
    const answer = await scene.ask(`told-${what}`).version("1.0.0");
    expect(answer.reason).toMatch(/was revoked by \S+ on/);
    const explained = await runCommand(scene.mirror, "explain", spec);
    expect(explained.status).toBe(1);
    for (const text of [answer.body.toString(), explained.stdout]) {
      expect(text).toMatch(
        new RegExp(
          `was revoked by \\S+ on \\d{4}-\\d\\d-\\d\\d for ${scope}: not theirs`,
        ),
      );
      expect(text).not.toContain("provender trust");
    }
    expect(await scene.candidatesOf(`told-${what}`)).toEqual([]);
    await scene.trust("forget", ...of);
    await expect.poll(faces).toEqual([true, "200", "200"]);
  },
);
