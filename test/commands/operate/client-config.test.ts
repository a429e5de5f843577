import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { runHere } from "../../running-here.ts";
import { startMirror } from "../../running-mirror.ts";
import { makeStorage } from "../storage.ts";

it("prints the CA alone on standard output, and how to trust it on standard error, with the first configured name for clients", async () => {
  const names = ["mirror.example.com", "192.0.2.10"];
  const listen = { port: 0, host: "0.0.0.0", names };
  const mirror = await startMirror({ config: { listen } });
  expect(mirror.url).toMatch(/^https:\/\/mirror\.example\.com:\d+\/$/);
  const { status, stdout, stderr } = await runHere([
    ...["client-config", "--pem", "--config", mirror.configFile],
  ]);
  expect(status).toBe(0);
  expect(stdout).toBe(readFileSync(mirror.caFile, "utf8"));
  expect(stderr).toContain(new X509Certificate(stdout).fingerprint256);
  for (const system of ["Debian", "Red Hat", "macOS", "Windows", "Containers"])
    expect(stderr).toMatch(new RegExp(`^${system}`, "m"));
});

it("prints what clients paste, host blocks first, or one kind of it alone", async () => {
  const sha256 = "a".repeat(64);
  const { configFile } = makeStorage({
    listen: { tls: "off" },
    publicUrl: "https://mirror.example.com/",
    auth: { tokens: [{ name: "ci", sha256 }] },
  });
  const run = async (...options: readonly string[]) => {
    const args = ["client-config", "--config", configFile, ...options];
    const { status, stdout, stderr } = await runHere(args);
    expect([status, stderr]).toEqual([0, ""]);
    return stdout;
  };
  const all = await run();
  expect(all).toMatch(/^# Terraform and OpenTofu\. In ~\/\.terraformrc/);
  expect(all).toContain('credentials "registry.terraform.io" {');
  expect(all.indexOf("host ")).toBeLessThan(all.indexOf("network_mirror"));
  expect(all).not.toContain("env:");
  expect(await run("--tofu")).toContain("trust_all_hashes = true");
  const ci = await run("--github", "--docker");
  expect(ci).toMatch(/steps:[^]*COPY mirror\.tfrc/);
  expect(ci).not.toContain("GitLab");
});

it.each([
  ["client-config", {}, 1, /ca\.pem is not a CA .*start the daemon/],
  ["client-config", { port: 0, tls: "off" }, 2, /listen\.port.*any free one/],
  ["client-config --pem", { tls: "off" }, 2, /listen\.tls.*no CA of its own/],
  [
    ...["lock", { tls: { certificate: "/none", key: "/none" } }, 2],
    /listen\.tls: \/none cannot be read \(ENOENT\)/,
  ],
  ...["*.example.com", "a b", "https://mirror.example.com/"].map(
    (name) =>
      [
        ...["config", { names: [name] }, 2],
        /listen\.names.*expected a name or an address/,
      ] as const,
  ),
] as const)(
  "%s under listen: %j has status %i",
  async (command, listen, expected, says) => {
    const { configFile } = makeStorage({ listen });
    const args = [...command.split(" "), "--config", configFile];
    const { status, stdout, stderr } = await runHere(args);
    expect([status, stdout]).toEqual([expected, ""]);
    expect(stderr).toMatch(says);
  },
);
