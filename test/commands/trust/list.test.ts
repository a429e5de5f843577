import { expect, it } from "vitest";
import { namespaceOf, plantRecords } from "../../scenes/planted-records.ts";
import { runCommand } from "../../scenes/provider-requests.ts";
import { startTrustScene } from "../../scenes/trust-scene.ts";
import { expectDocument } from "../documents.ts";
import { makeStorage } from "../storage.ts";

const hostname = "registry.terraform.io";
const key = "A".repeat(40);
const scene = await startTrustScene();

it("trust list has what needs a decision with its commands, and with --all keys and first contacts", async () => {
  const { known, stranger } = await scene.refuseNext("tabled");
  const [candidate] = await scene.candidatesOf("tabled");
  const { sha256sums = "" } = candidate ?? {};
  const day = String.raw`\d{4}-\d\d-\d\d`;
  const name = `${hostname}/tabled/thing`;
  const listed = await scene.trust("list");
  expect(listed).toMatch(
    new RegExp(
      `^NEEDS A DECISION: .*\n` +
        `${name} 1\\.1\\.0: key ${stranger.fingerprint}, not known, SHA256SUMS ${sha256sums}, since ${day}\n` +
        `  provender trust approve ${name}@1.1.0 ${sha256sums.slice(0, 16)}\n` +
        `  provender trust approve --key ${stranger.fingerprint} --for ${name}  # all that this key signs\n$`,
    ),
  );
  await scene.trust("revoke", "--key", key, "--for", "tabled");
  expect(await scene.trust("list", "--all")).toMatch(
    new RegExp(
      `\n${hostname}/tabled\n` +
        ` {2}KEY +STATE +FOR .*\n` +
        ` {2}${known.fingerprint} +first key +namespace .* thing\n` +
        ` {2}${key} +revoked +namespace .*\n` +
        ` {2}FIRST CONTACT +KEY .*\n` +
        ` {2}thing +${known.fingerprint} +${day} +list +1\\.0\\.0\n`,
    ),
  );
  const empty = await runCommand(makeStorage({}), "trust", "list");
  expect([empty.status, empty.stdout]).toEqual([
    ...[0, "Nothing needs a decision.\n"],
  ]);
});

it("the same candidates and commands are shown everywhere", async () => {
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
  const refused = (await scene.ask("everywhere").version("1.1.0")).body;
  expect(refused.toString().replaceAll('\\"', '"')).toContain(written);
});

it("records that cannot be read are named as unknown beside the others, with the cure and status 1, and stop no decision on others", async () => {
  const run = (...args: readonly string[]) =>
    runCommand(scene.mirror, "trust", ...args);
  const { known } = await scene.refuseNext("last");
  const lost = [
    ["first_contacts", hostname, "uncontacted", "thing"],
    ["namespaces", hostname, "damaged"],
  ] as const;
  const { directory } = scene.mirror;
  plantRecords(directory, [
    namespaceOf("uncontacted"),
    ...lost.map((record) => [record, {}] as const),
  ]);
  const all = await run("list", "--all");
  const json = await run("list", "--json");
  for (const { status, stderr } of [all, json]) {
    expect(status).toBe(1);
    for (const record of lost)
      expect(stderr).toMatch(
        new RegExp(`^[^{].*${record.join("/")}.*backup`, "m"),
      );
  }
  const { namespaces, problems } = expectDocument(
    "trust list",
    json.stdout,
  ) as {
    readonly namespaces: readonly { readonly namespace: string }[];
    readonly problems: readonly object[];
  };
  for (const name of ["uncontacted/thing", "damaged"]) {
    const subject = `${hostname}/${name}`;
    expect(all.stdout).toContain(`${subject}\n  unknown\n`);
    const code = "record-unreadable";
    expect(problems).toContainEqual(expect.objectContaining({ subject, code }));
  }
  const of = (name: string) =>
    namespaces.find(({ namespace }) => namespace === `${hostname}/${name}`);
  expect(of("last")).toMatchObject({
    firstKey: { fingerprint: known.fingerprint, type: "thing" },
    candidates: [{ version: "1.1.0" }],
  });
  expect(of("uncontacted")).toMatchObject({ contacts: [] });

  expect((await run("approve", "last/thing@1.1.0")).status).toBe(0);
  expectDocument("trust list", (await run("list", "--json")).stdout);
  plantRecords(directory, [[["candidates", hostname, "last", "other"], {}]]);
  const ofKey = ["--key", key, "--for"];
  expect((await run("revoke", ...ofKey, "last/thing")).status).toBe(0);
  expect((await run("revoke", ...ofKey, "last/other")).status).toBe(1);
});
