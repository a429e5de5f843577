import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { makeProgram } from "../../src/main/program.ts";
import { commandsSchema, expectDocument } from "../commands/documents.ts";
import { runCommand } from "../running-command.ts";
import { signer, TrustScene } from "../scenes/trust-scene.ts";

/** By the words of the command, as the schema has them: what it is given. */
const commands: Readonly<Record<string, readonly string[]>> = {
  prefetch: ["--platform", "linux_amd64", "known/thing", "known/nothing"],
  list: [],
  status: [],
  doctor: [],
  explain: ["known/thing"],
  "trust list": [],
  verify: [],
  prune: [],
  audit: [],
};

const [known, stranger] = [await signer("Known"), await signer("Stranger")];
const scene = await TrustScene.start();
await scene.contact("known", known);
await scene.publish("known", "1.1.0", stranger);
await scene.ask("known").version("1.1.0");
await scene.trust("approve", "known/thing@1.1.0", "--because", "new key");
await scene.trust(
  ...["revoke", "--key", stranger.fingerprint],
  ...["--for", "registry.terraform.io/known"],
);

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
      const config = ["--config", configFile];
      const args = [...(commands[words] ?? []), ...config, "--json"];
      const { stdout } = await runCommand([...words.split(" "), ...args]);
      expect(expectDocument(words, stdout)).toMatchObject({ version: 1 });
      expect(stdout).toMatch(/^\{\s*"version":\s*1\b/);
    },
  );

  it.each<[string, readonly string[], number, string]>([
    ["prune", ["known/nothing"], 1, "nothing-held"],
    ["list", ["known"], 2, "malformed-address"],
    ["trust list", ["--config", "/nowhere.yaml"], 2, "configuration"],
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
