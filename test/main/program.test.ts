import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { runCommand, type CommandRun } from "../running-command.ts";
import { runHere } from "../running-here.ts";
import { scratch, startMirror } from "../running-mirror.ts";

const manifest = JSON.parse(
  readFileSync(join(import.meta.dirname, "..", "..", "package.json"), "utf8"),
) as { version: string };

function write(yaml: string): string {
  const file = join(scratch("config"), "provender.yaml");
  writeFileSync(file, yaml);
  return file;
}

function serve(config: object): Promise<CommandRun> {
  const withDefaults = {
    listen: { port: 0 },
    storage: { directory: scratch("store") },
    ...config,
  };
  return runCommand(["serve", "--config", write(stringify(withDefaults))]);
}

/** One sentence on standard error and nothing else. */
function expectRefusal(run: CommandRun, status: number, what: RegExp): void {
  expect(run.stderr).toMatch(what);
  expect(run.stderr).toMatch(/^provender: \S.*[.?]\n$/);
  expect(run.stdout).toBe("");
  expect(run.status).toBe(status);
}

describe("provender", () => {
  it("says its version", async () => {
    const { status, stdout } = await runCommand(["--version"]);
    expect(stdout).toBe(`${manifest.version}\n`);
    expect(status).toBe(0);
  });

  it.each([
    [["serv"], /Did you mean serve\?/],
    [["serve", "--unknown"], /unknown option '--unknown'/],
    [["import"], /missing required argument 'file'/],
    [[], /Usage: provender/],
  ])("refuses %j with status 2", async (args, what) => {
    const { status, stdout, stderr } = await runCommand(args);
    expect(stderr).toMatch(what);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(stdout).toBe("");
    expect(status).toBe(2);
  });
});

describe("provender config", () => {
  it("finds the defaults good", async () => {
    const run = await runHere(["config"]);
    const serves = "Serves registry.terraform.io, registry.opentofu.org";
    expect(run.stderr).toBe(`The built-in defaults: good\n${serves}\n`);
    expect(run.status).toBe(0);
  });

  it.each(["config", "serve"])(
    "and serve refuse an unknown key with status 2 and its line: %s",
    async (command) => {
      const file = write("listen:\n  prot: 1\n");
      const run = await runHere([command, "--config", file]);
      expectRefusal(run, 2, /:2: unknown key "prot".*did you mean "port"\?/);
    },
  );
});

describe("provender serve", () => {
  it("refuses a port in use with status 1", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const run = await serve({ listen: { port } });
    other.close();
    expectRefusal(run, 1, new RegExp(`127\\.0\\.0\\.1:${port}.*listen\\.port`));
  });

  it("refuses a storage directory that cannot be made with status 1", async () => {
    const directory = join(write("x: y"), "below-a-file");
    const run = await serve({ storage: { directory } });
    expectRefusal(run, 1, /below-a-file.*storage\.directory/);
  });

  it("leaves a directory in order where it is the second daemon, and the port is the first one's", async () => {
    const first = await startMirror();
    const port = Number(new URL(first.url).port);
    const storage = { directory: first.directory };
    const run = await serve({ listen: { port }, storage });
    expectRefusal(run, 1, /listen\.port/);
    expect((await first.get("/readyz")).status).toBe(200);
    const args = ["status", "--config", first.configFile];
    expect((await runCommand(args)).status).toBe(0);
    await first.kill();
    const again = await startMirror(storage);
    expect(await again.stop()).toBe(0);
  });

  it("refuses certificate files that are not there with status 2", async () => {
    const tls = { certificate: "/nowhere/tls.crt", key: "/nowhere/tls.key" };
    const run = await serve({ listen: { port: 0, tls } });
    expectRefusal(run, 2, /\/nowhere\/tls\.crt/);
  });

  it("prints the client configuration once it serves", async () => {
    const mirror = await startMirror();
    const { printed, url, caFile } = mirror;
    expect(printed).toContain(
      `"providers.v1" = "${url}v1/providers/registry.terraform.io/"`,
    );
    expect(printed).toContain("SSL_CERT_FILE");
    expect(printed).toContain(caFile);
    expect(await mirror.stop()).toBe(0);
  });
});

describe("a reader of standard output that goes away", () => {
  it.each([[["config"]], [["--help"]]])(
    "makes no stack trace: %j",
    async (args) => {
      const { stderr } = await runCommand(args, { deaf: true });
      expect(stderr).not.toMatch(/EPIPE|^\s+at /m);
    },
  );

  it("does not end a daemon", async () => {
    const mirror = await startMirror();
    mirror.process.stdout?.destroy();
    mirror.process.kill("SIGHUP");
    expect((await mirror.get("/readyz")).status).toBe(200);
    expect(await mirror.stop()).toBe(0);
  });
});
