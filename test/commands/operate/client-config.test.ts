import { X509Certificate } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import { once } from "node:events";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { runHere } from "../../running-here.ts";
import { scratch, startMirror } from "../../running-mirror.ts";

function write(configuration: object): string {
  const file = join(scratch("config"), "provender.yaml");
  writeFileSync(file, stringify(configuration));
  return file;
}

it("prints the CA alone on standard output, and how to trust it on standard error", async () => {
  const mirror = await startMirror();
  const config = ["--config", mirror.configFile];
  const { status, stdout, stderr } = await runHere([
    "client-config",
    "--pem",
    ...config,
  ]);
  expect(status).toBe(0);
  expect(stdout).toBe(readFileSync(mirror.caFile, "utf8"));
  expect(stderr).toContain(new X509Certificate(stdout).fingerprint256);
  for (const system of ["Debian", "Red Hat", "macOS", "Windows", "Containers"])
    expect(stderr).toMatch(new RegExp(`^${system}`, "m"));
  expect(await mirror.stop()).toBe(0);
});

it("prints what clients paste, host blocks first, or one kind of it alone", async () => {
  const sha256 = "a".repeat(64);
  const config = write({
    listen: { tls: "off" },
    publicUrl: "https://mirror.example.com/",
    auth: { tokens: [{ name: "ci", sha256 }] },
  });
  const run = async (...options: readonly string[]) => {
    const args = ["client-config", "--config", config, ...options];
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
  const free = write({ listen: { port: 0, tls: "off" } });
  const refused = await runHere(["client-config", "--config", free]);
  expect(refused.stderr).toMatch(/listen\.port.*any free one/);
  expect(refused.status).toBe(2);
});

it("says what to do before the daemon made one", async () => {
  const storage = { directory: scratch("store") };
  const run = await runHere([
    "client-config",
    ...["--config", write({ storage })],
  ]);
  expect(run.stdout).toBe("");
  expect(run.stderr).toMatch(/ca\.pem is not a CA .*start the daemon/);
  expect(run.status).toBe(1);
});

it("refuses where the certificate is not the mirror's own", async () => {
  const config = write({ listen: { tls: "off" } });
  const run = await runHere(["client-config", "--pem", "--config", config]);
  expect(run.stderr).toMatch(/listen\.tls.*no CA of its own/);
  expect(run.status).toBe(2);
});

it("is of the certificate for every configured name, and the first one is printed for clients", async () => {
  const names = ["mirror.example.com", "192.0.2.10"];
  const listen = { port: 0, host: "0.0.0.0", names };
  const mirror = await startMirror({ config: { listen } });
  expect(mirror.url).toMatch(/^https:\/\/mirror\.example\.com:\d+\/$/);
  const port = Number(new URL(mirror.url).port);
  const ca = readFileSync(mirror.caFile);
  const socket = connect({ port, ca, servername: "mirror.example.com" });
  await once(socket, "secureConnect");
  const { subjectaltname } = socket.getPeerCertificate();
  expect(subjectaltname).toContain("DNS:mirror.example.com");
  expect(subjectaltname).toContain("IP Address:192.0.2.10");
  socket.destroy();
  expect(await mirror.stop()).toBe(0);
});

it.each(["*.example.com", "a b", "https://mirror.example.com/"])(
  "takes no %j for a name",
  async (name) => {
    const config = write({ listen: { names: [name] } });
    const run = await runHere(["config", "--config", config]);
    expect(run.stderr).toMatch(/listen\.names.*expected a name or an address/);
    expect(run.status).toBe(2);
  },
);
