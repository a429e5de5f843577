import { describe, expect, it } from "vitest";
import {
  digestsIn,
  digestsOf,
  eventually,
  listedIn,
  runCommand,
} from "../../scenes/provider-requests.ts";
import { signer, soon, startTrustScene } from "../../scenes/trust-scene.ts";

const host = "registry.terraform.io";
const nothing = { command: "nothing", sha256sums: "nothing" };
const stolen = "A".repeat(40);

const scene = await startTrustScene();

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
  `approve --key ${stolen}`,
  `approve --key ${stolen} --for registry.terrafrom.io/acme`,
  "reset acme/thing@1.0.0",
  `approve acme/thing@1.0.0 --sha256sums ${"0".repeat(16)}`,
])("trust %s is a mistake", async (line) => {
  const { status, stdout, stderr } = await run(...line.split(/ (?!1)/));
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/^(?! {4}at ).+/);
});

describe("the approval of a content", () => {
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
