import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runHere } from "../../running-here.ts";
import { startMirror } from "../../running-mirror.ts";
import {
  calling,
  makeModuleCalls,
  moduleHost,
  requiredTogether,
} from "../../scenes/module-calls.ts";
import { makeDirectory } from "../storage.ts";

const scene = await makeModuleCalls();
const { modules, config } = scene;
const elsewhere = "hg::https://hg.example.com/a";
modules.publish("acme/elsewhere/aws", "1.0.0", elsewhere);
const mirror = await startMirror({ config });

async function lock(text: string) {
  const directory = makeDirectory({ "main.tf": text });
  const from = ["--mirror", mirror.url, "--ca", mirror.caFile];
  const flags = ["--platform", "linux_amd64", directory];
  const run = await runHere(["lock", ...from, ...flags]);
  const read = () =>
    readFileSync(join(directory, ".terraform.lock.hcl"), "utf8");
  return { ...run, read };
}

describe("provender lock", () => {
  it("locks what modules of registries require, read through the mirror", async () => {
    const text = calling(`${moduleHost}/acme/network/aws`, "~> 1.0");
    const ran = await lock(text);
    expect(ran.status, ran.stderr).toBe(0);
    const names = [
      ...ran.read().matchAll(/^provider "(.+)" \{\n\s+version += "(.+)"/gm),
    ];
    expect(names.map(([, name, version]) => `${name} ${version}`)).toEqual(
      requiredTogether,
    );
  });

  it.each([
    [`${moduleHost}/acme/elsewhere/aws`, "sends clients elsewhere for it"],
    [`${moduleHost}/acme/absent/aws`, "does not have it"],
    ["git::https://git.example.com/a", "it is no module of a registry"],
  ])("says that %s was not read", async (source, because) => {
    const required =
      'terraform {\n  required_providers {\n    w = { source = "acme/widget" }\n  }\n}\n';
    const ran = await lock(required + calling(source));
    expect(ran.stderr).toContain(`what "${source}" requires is not seen: `);
    expect(ran.stderr).toContain(because);
    expect(ran.read()).toContain("acme/widget");
  });

  it("names what is refused", async () => {
    const ran = await lock(calling("none.example.com/acme/a/aws"));
    expect(ran.status).toBe(1);
    expect(ran.stderr).toMatch(/none\.example\.com\/acme\/a\/aws.* 451/);
  });

  it("names an archive that cannot be had, and locks nothing for it", async () => {
    const { modules } = scene;
    const url = modules.serve("/broken.tar.gz", Buffer.from("no archive"));
    modules.publish("acme/broken/aws", "1.0.0", url);
    const ran = await lock(calling(`${moduleHost}/acme/broken/aws`));
    expect(ran.status).toBe(1);
    expect(ran.stderr).toContain("acme/broken/aws");
  });
});
