import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../src/store/database/database.ts";
import { makeDirectory, makeStorage } from "../commands/storage.ts";
import { createAuthority } from "../fakes/authority.ts";
import { runCommand, type CommandRun } from "../running-command.ts";
import { runHere } from "../running-here.ts";
import { startMirror } from "../running-mirror.ts";
import { askDatabase, makeLayout } from "../store/stores.ts";

const manifest = JSON.parse(
  readFileSync(join(import.meta.dirname, "..", "..", "package.json"), "utf8"),
) as { version: string };

function serve(config: Readonly<Record<string, unknown>>): Promise<CommandRun> {
  const { configFile } = makeStorage({ listen: { port: 0 }, ...config });
  return runCommand(["serve", "--config", configFile]);
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
  const serves = "Serves registry.terraform.io, registry.opentofu.org\n";

  it("finds the defaults good, and refuses an unknown key with its line, as serve does", async () => {
    const good = await runHere(["config"]);
    expect(good.stderr).toBe(`The built-in defaults: good\n${serves}`);
    expect(good.status).toBe(0);
    const yaml = { "provender.yaml": "listen:\n  prot: 1\n" };
    const file = join(makeDirectory(yaml), "provender.yaml");
    const what = /:2: unknown key "prot".*did you mean "port"\?/;
    for (const args of [["config"], ["serve"]])
      expectRefusal(await runHere([...args, "--config", file]), 2, what);
  });

  it("opens every file that is named, and says until when the certificate is good, or that the key is another one's", async () => {
    const authority = await createAuthority();
    const issued = await authority.issue(["mirror.example.com"]);
    const folder = makeDirectory({
      ...{ "site.pem": issued.certificate, "site.key": issued.key },
      ...{ token: "secret-of-the-origin\n", "ca.pem": authority.caPem },
    });
    const at = (name: string) => join(folder, name);
    const origin = { ca: at("ca.pem"), token: { file: at("token") } };
    const { configFile } = makeStorage({
      listen: { tls: { certificate: at("site.pem"), key: at("site.key") } },
      origins: { "registry.example.com": origin },
    });
    const config = () => runHere(["config", "--config", configFile]);
    const good = await config();
    expect(good.status).toBe(0);
    expect(good.stdout).toMatch(/^listen:$/m);
    expect(good.stdout + good.stderr).not.toContain("secret-of-the-origin");
    expect(good.stderr).toMatch(
      /good\nServes .*\n\S+site\.pem: good until 20\d\d-\S+Z, with its key\n$/,
    );
    writeFileSync(at("site.key"), (await authority.issue(["a.test"])).key);
    const other = /"listen\.tls".*site\.key.*does not belong/;
    expectRefusal(await config(), 2, other);
  });
});

describe("provender serve", () => {
  it("refuses the database of a newer version with status 2", async () => {
    const layout = await makeLayout();
    await openDatabase(layout).close();
    askDatabase(layout, "PRAGMA user_version = 99");
    const run = await serve({ storage: { directory: layout.directory } });
    expectRefusal(
      run,
      2,
      /provender\.db is of version 99, .* up to version \d:/,
    );
  });

  it("leaves a directory in order where it is the second daemon, and the port is the first one's", async () => {
    const first = await startMirror();
    const port = Number(new URL(first.url).port);
    const storage = { directory: first.directory };
    const run = await serve({ listen: { port }, storage });
    expectRefusal(run, 1, new RegExp(`127\\.0\\.0\\.1:${port}.*listen\\.port`));
    expect((await first.get("/readyz")).status).toBe(200);
    const args = ["status", "--config", first.configFile];
    expect((await runCommand(args)).status).toBe(0);
    await first.kill();
    const again = await startMirror(storage);
    expect(await again.stop()).toBe(0);
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
