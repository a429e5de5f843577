import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeProgram } from "../../src/main/program.ts";
import { commandsSchema, expectDocument } from "../commands/documents.ts";
import { settingsOf } from "../fakes/ceph.ts";
import { startLooseBucket, type LooseBucket } from "../fakes/loose-bucket.ts";
import { runCommand } from "../running-command.ts";
import { writeBucketConfiguration } from "../scenes/bucket-configuration.ts";
import { makeLayout } from "../store/stores.ts";
import { signer, TrustScene } from "../scenes/trust-scene.ts";

/** By the words of the command, as the schema has them: what it is given. */
const commands: Readonly<Record<string, readonly string[]>> = {
  hash: ["/nowhere.zip"],
  prefetch: ["--platform", "linux_amd64", "known/thing", "known/nothing"],
  list: [],
  purge: ["known/thing"],
  compare: ["known/thing"],
  status: [],
  doctor: [],
  explain: ["known/thing"],
  publish: ["/nowhere", "--to", "/nowhere", "--namespace", "acme"],
  "trust list": [],
  verify: [],
  prune: [],
  "store push": [],
  audit: [],
  "audit --verify": [],
};

let scene: TrustScene;
let bucket: LooseBucket;
/** The configuration of a directory and a bucket. */
let carried: string;

beforeAll(async () => {
  const [known, stranger] = [await signer("Known"), await signer("Stranger")];
  scene = await TrustScene.start();
  bucket = await startLooseBucket({ keepsConditions: true });
  const endpoint = new URL(bucket.settings.endpoint as string);
  const { directory } = await makeLayout();
  carried = writeBucketConfiguration(directory, settingsOf(endpoint, "loose"));
  await scene.contact("known", known);
  await scene.publish("known", "1.1.0", stranger);
  await scene.ask("known").version("1.1.0");
  await scene.trust("approve", "known/thing@1.1.0", "--because", "new key");
  await scene.trust(
    ...["revoke", "--key", stranger.fingerprint],
    "registry.terraform.io/known",
  );
});
afterAll(() => Promise.all([scene.stop(), bucket.stop()]));

/** The words of every command that takes `--json`. */
function listSpeaking(command: Command, words: string): readonly string[] {
  const below = command.commands.flatMap((one) =>
    listSpeaking(one, `${words} ${one.name()}`.trim()),
  );
  const speaks = command.options.some(({ long }) => long === "--json");
  return speaks ? [words, ...below] : below;
}

describe("--json", () => {
  it.each(Object.keys(commands))(
    "prints what the schema says: %s",
    async (words) => {
      const { configFile } = scene.mirror;
      const file = words.startsWith("store ") ? carried : configFile;
      const config = words === "hash" ? [] : ["--config", file];
      const named = words === "compare" ? ["--with", scene.mirror.url] : [];
      const trust = words === "compare" ? ["--ca", scene.mirror.caFile] : [];
      const args = [
        ...(commands[words] ?? []),
        ...[...config, ...named, ...trust, "--json"],
      ];
      const { stdout } = await runCommand([...words.split(" "), ...args]);
      expect(expectDocument(words, stdout)).toMatchObject({ version: 1 });
      expect(stdout).toMatch(/^\{\s*"version":\s*1\b/);
    },
  );

  it.each<[string, readonly string[], number, string]>([
    ["purge", ["known/nothing"], 1, "nothing-held"],
    ["list", ["known"], 2, "malformed-address"],
    ["trust list", ["--config", "/nowhere.yaml"], 2, "configuration"],
    ["compare", ["--with", "https://127.0.0.1:1/"], 1, "origin-unreachable"],
    [
      "explain",
      ["--mirror", "https://127.0.0.1:1/", "known/thing"],
      1,
      "origin-unreachable",
    ],
    ["audit", ["--since", "yesterday"], 2, "malformed-address"],
  ])(
    "prints a document also where nothing comes of it: %s %j",
    async (words, args, status, code) => {
      const named = ["--config", "--mirror"].includes(args[0] ?? "");
      const config = named ? [] : ["--config", scene.mirror.configFile];
      const run = await runCommand([
        ...words.split(" "),
        ...[...config, ...args, "--json"],
      ]);
      expect(expectDocument("error", run.stdout)).toMatchObject({
        error: { code, message: run.stderr.replace(/^provender: |\n$/g, "") },
      });
      expect(run.status).toBe(status);
    },
  );

  it("is tried with every command that has it, and each is documented with its fields", () => {
    const tried = Object.keys(commands).map((words) => words.split(" --")[0]);
    expect(new Set(tried)).toEqual(new Set(listSpeaking(makeProgram(), "")));
    const docs = join(import.meta.dirname, "..", "..", "docs");
    const page = readFileSync(join(docs, "commands-json.md"), "utf8");
    for (const words of Object.keys(commands)) {
      const row = page
        .split("\n")
        .find((line) => line.includes(`\`provender ${words}\``));
      const { properties } = commandsSchema.$defs[words] ?? {};
      const [, ...fields] = Object.keys(properties ?? {});
      expect(row?.match(/`(\w+)`/g)).toEqual(
        fields.map((name) => `\`${name}\``),
      );
    }
  });
});
