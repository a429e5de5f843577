import { hash } from "node:crypto";
import { expect, it } from "vitest";
import { load } from "../../config/written.ts";
import { runCommand } from "../../running-command.ts";

it("token prints a token and a line with which the configuration knows it", async () => {
  const name = 'ci "runner": #1';
  const args = ["token", name, "--expires", "2099-01-31"];
  const { stdout, status } = await runCommand(args);
  expect(status).toBe(0);
  const [, token = "", , line = ""] = stdout.split("\n");
  expect(token).toMatch(/^provender_[\w-]{43}$/);
  const { auth } = load(`auth:\n  tokens:\n${line}\n`);
  expect(auth.tokens).toEqual([
    { name, sha256: hash("sha256", token), expires: Date.UTC(2099, 0, 31) },
  ]);
  const again = await runCommand(["token", "ci"]);
  expect(again.stdout).not.toContain(token);
  expect(again.stdout).not.toContain("expires");
});

it.each([
  ["ci", "--expires", "tomorrow"],
  ["ci", "--expires", "2099-13-01"],
  [" "],
])("token refuses %s %s %s", async (...args) => {
  const { stdout, stderr, status } = await runCommand(["token", ...args]);
  expect(stdout).toBe("");
  expect(stderr).toMatch(/expected/);
  expect(status).toBe(2);
});
