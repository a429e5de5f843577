import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCommand } from "../../running-command.ts";
import {
  startAuthenticationScene,
  ci,
} from "../../scenes/authentication-scene.ts";
import { makeDirectory } from "../storage.ts";

const scene = await startAuthenticationScene();

/** `provender lock` against the mirror, in a new directory that locks a widget. */
async function lock(env: Readonly<Record<string, string>>) {
  const directory = makeDirectory({
    ".terraform.lock.hcl": `provider "registry.terraform.io/acme/widget" {\n  version = "1.0.0"\n}\n`,
  });
  const { url, caFile } = scene.mirror;
  const args = ["--mirror", url, "--ca", caFile, "--platform", "darwin_arm64"];
  const run = await runCommand(["lock", ...args, directory], { env });
  return { ...run, file: join(directory, ".terraform.lock.hcl") };
}

/** As Terraform names it for the mirror's host. */
const variable = () =>
  `TF_TOKEN_${new URL(scene.mirror.url).host.replaceAll(".", "_")}`;

it("lock --mirror sends the token that clients have in the environment", async () => {
  const run = await lock({ [variable()]: ci.token });
  expect(run.stderr).toMatch(/acme\/widget 1\.0\.0/);
  expect(run.status).toBe(0);
  const text = readFileSync(run.file, "utf8");
  expect(text).toContain(scene.release.archive("darwin_arm64").h1);
});

it("lock --mirror names the variable when the mirror wants a token, or another one", async () => {
  for (const env of [{}, { [variable()]: "wrong-token" }]) {
    const run = await lock(env);
    expect(run.stderr).toContain(`set ${variable()} to one that it knows`);
    expect(run.stderr).not.toContain("wrong-token");
    expect(run.status).toBe(1);
  }
});
