import { describe, expect, it } from "vitest";
import { namespaceOf, plantRecords } from "../../scenes/planted-records.ts";
import { requestsFor, runCommand } from "../../scenes/provider-requests.ts";
import { TrustScene } from "../../scenes/trust-scene.ts";
import { expectDocument } from "../documents.ts";
import { makeStorage } from "../storage.ts";

const hostname = "registry.terraform.io";
const key = "A".repeat(40);
const scene = await TrustScene.start();

describe("provender trust list", () => {
  it("has what needs a decision with its commands, and with --all keys and first contacts", async () => {
    const { known, stranger } = await scene.refuseNext("tabled");
    const [candidate] = await scene.candidatesOf("tabled");
    const { sha256sums = "" } = candidate ?? {};
    const day = String.raw`\d{4}-\d\d-\d\d`;
    const lines = (await scene.trust("list")).split("\n");
    const at = lines.findIndex((line) =>
      line.startsWith(`${hostname}/tabled/`),
    );
    expect(lines[0]).toMatch(/^NEEDS A DECISION: /);
    expect(lines[at]).toMatch(
      new RegExp(
        `^${hostname}/tabled/thing 1\\.1\\.0: key ${stranger.fingerprint}, not known, SHA256SUMS ${sha256sums}, since ${day}$`,
      ),
    );
    expect(lines.slice(at + 1, at + 3)).toEqual([
      `  provender trust approve ${hostname}/tabled/thing@1.1.0 ${sha256sums.slice(0, 16)}`,
      `  provender trust approve --key ${stranger.fingerprint} --for ${hostname}/tabled/thing  # all that this key signs`,
    ]);
    expect(lines.join()).not.toContain(known.fingerprint);
    expect(await scene.trust("list", "--all")).toMatch(
      new RegExp(
        `${hostname}/tabled\\n` +
          ` {2}KEY +STATE +FOR .*\\n` +
          ` {2}${known.fingerprint} +first key +namespace .* thing\\n` +
          ` {2}FIRST CONTACT +KEY .*\\n` +
          ` {2}thing +${known.fingerprint} +${day} +list +1\\.0\\.0\\n`,
      ),
    );
  });

  it("is empty on a store of its own, where a key can be revoked ahead", async () => {
    const empty = makeStorage({});
    const nothing = await runCommand(empty, "trust", "list");
    expect([nothing.status, nothing.stdout]).toEqual([
      0,
      "Nothing needs a decision.\n",
    ]);
    const of = ["--key", key, "--for", "acme"];
    const revoke = await runCommand(empty, "trust", "revoke", ...of);
    expect(revoke.status).toBe(0);
    expect(revoke.stdout).toContain("is revoked for");
    expect(revoke.stdout).toContain("in advance");
    const list = await runCommand(empty, "trust", "list", "--all");
    expect(list.stdout).toMatch(
      new RegExp(`\n${hostname}/acme\\n.*\\n {2}${key} +revoked +namespace `),
    );
  });

  it("shows the same candidates and commands everywhere", async () => {
    await scene.refuseNext("everywhere");
    const [candidate] = await scene.candidatesOf("everywhere");
    const written = candidate?.command ?? "no command";
    const name = `${hostname}/everywhere/thing`;
    const args = ["explain", "--json", `${name}@1.1.0`];
    const { stdout } = await runCommand(scene.mirror, ...args);
    expectDocument("explain", stdout);
    expect(stdout).toContain(written);
    for (const path of ["/decisions", `/why/${name}/1.1.0`])
      expect([path, (await scene.mirror.get(path)).body.toString()]).toEqual([
        path,
        expect.stringContaining(written),
      ]);
    const ask = requestsFor(scene.mirror, "thing", "everywhere");
    const refused = (await ask.version("1.1.0")).body.toString();
    expect(refused.replaceAll('\\"', '"')).toContain(written);
  });
});

it("records that cannot be read are named as unknown beside the others, with the cure and status 1, and stop no decision on others", async () => {
  const run = (...args: readonly string[]) =>
    runCommand(scene.mirror, "trust", ...args);
  const { known } = await scene.refuseNext("last");
  const lost = [
    ["first_contacts", hostname, "uncontacted", "thing"],
    ["namespaces", hostname, "damaged"],
  ] as const;
  const unknown = ["uncontacted/thing", "damaged"];
  const { directory } = scene.mirror;
  plantRecords(directory, [
    namespaceOf("uncontacted"),
    ...lost.map((record) => [record, {}] as const),
  ]);
  for (const form of ["--all", "--json"]) {
    const { status, stdout, stderr } = await run("list", form);
    expect(status).toBe(1);
    for (const record of lost)
      expect(stderr).toMatch(
        new RegExp(`^[^{].*${record.join("/")}.*backup`, "m"),
      );
    if (form === "--all")
      for (const name of unknown)
        expect(stdout).toContain(`${hostname}/${name}\n  unknown\n`);
    else
      expect(expectDocument("trust list", stdout)).toMatchObject({
        namespaces: expect.arrayContaining([
          expect.objectContaining({
            namespace: `${hostname}/last`,
            firstKey: { fingerprint: known.fingerprint, type: "thing" },
            candidates: [expect.objectContaining({ version: "1.1.0" })],
            dropped: 0,
          }),
          expect.objectContaining({
            ...{ namespace: `${hostname}/uncontacted`, contacts: [] },
          }),
        ]) as unknown,
        problems: expect.arrayContaining(
          unknown.map(
            (name) =>
              expect.objectContaining({
                ...{
                  subject: `${hostname}/${name}`,
                  code: "record-unreadable",
                },
              }) as unknown,
          ),
        ) as unknown,
      });
  }
  expect((await run("approve", "last/thing@1.1.0")).status).toBe(0);
  expectDocument("trust list", (await run("list", "--json")).stdout);
  plantRecords(directory, [[["candidates", hostname, "last", "other"], {}]]);
  const of = ["--key", key, "--for"];
  expect((await run("revoke", ...of, "last/thing")).status).toBe(0);
  expect((await run("revoke", ...of, "last/other")).status).toBe(1);
});
