import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthority, type Authority } from "../fakes/authority.ts";
import {
  startOpenIdServer,
  type OpenIdServer,
} from "../fakes/openid-server.ts";
import { startRegistry, type Registry } from "../fakes/registry.ts";
import { originsOf } from "../origins.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import { readAudit } from "../scenes/provider-requests.ts";
import { logIn } from "./browser.ts";
import {
  findClients,
  networkMirrorConfig,
  runClient,
  writeConfiguration,
  type Client,
} from "./clients.ts";
import { endingWithTests } from "../child-process.ts";

const clients = await findClients();
if (clients.length === 0)
  it.skip("logs in with a real client: none is on PATH", () => undefined);

let authority: Authority;
let registry: Registry;
let openId: OpenIdServer;
let mirror: RunningMirror;
let caFile: string;

beforeAll(async () => {
  authority = await createAuthority();
  registry = await startRegistry({ authority });
  await registry.publish({ version: "1.0.0", size: 20_000 });
  openId = await startOpenIdServer(authority);
  const { issuer, audience, clientId } = openId;
  const ca = join(scratch("ca"), "ca.pem");
  await writeFile(ca, authority.caPem);
  mirror = await startMirror({
    config: {
      ...originsOf(authority, registry),
      auth: { oidc: { issuer, audience, clientId, ca } },
    },
  });
  // A client trusts one file, and asks the mirror as well as the provider.
  caFile = join(scratch("ca"), "both.pem");
  const own = readFileSync(mirror.caFile, "utf8");
  await writeFile(caFile, `${own}\n${authority.caPem}`);
});

afterAll(async () => {
  await mirror.stop();
  await openId.stop();
  await registry.stop();
});

/** `login HOST`, with "yes" on standard input and the scripted browser at the URL that it prints. */
async function login(
  client: Client,
  home: string,
): Promise<{ readonly status: number | null; readonly output: string }> {
  const { host } = new URL(mirror.url);
  const child = spawn(
    ...endingWithTests(client.binary, ["login", "-no-color", host]),
    {
      cwd: home,
      env: {
        PATH: "/nowhere",
        HOME: home,
        CHECKPOINT_DISABLE: "1",
        SSL_CERT_FILE: caFile,
        SSL_CERT_DIR: home,
      },
    },
  );
  const exit = once(child, "exit");
  let output = "";
  let browsing: Promise<unknown> | undefined;
  const read = (text: string) => {
    output += text;
    const [, url] = /^\s*(https:\S+\/auth\?\S+)$/m.exec(output) ?? [];
    if (url === undefined || !output.includes(`${url}\n`)) return;
    browsing ??= logIn(url, { ca: authority.caPem, name: "jane" });
  };
  child.stdout.setEncoding("utf8").on("data", read);
  child.stderr.setEncoding("utf8").on("data", read);
  child.stdin.end("yes\n");
  const [status] = (await exit) as [number | null];
  expect(await browsing).toMatchObject({ status: 200 });
  return { status, output };
}

describe.each(clients)("$name login", (client) => {
  it("gets an access token, with which init installs", async () => {
    const directory = scratch("login");
    const home = join(directory, ".home");
    await mkdir(join(home, ".terraform.d"), { recursive: true });
    await writeConfiguration(directory, {
      widget: { source: "registry.terraform.io/acme/widget" },
    });
    const config = networkMirrorConfig(`${mirror.url}providers/`);
    for (const name of [".terraformrc", ".tofurc"])
      await writeFile(join(home, name), config);
    const init = () =>
      runClient(client, ["init", "-no-color"], {
        directory,
        cliConfig: "",
        caFile,
        env: { TF_CLI_CONFIG_FILE: "" },
      });
    expect((await init()).status).toBe(1);

    const { status, output } = await login(client, home);
    expect(output).toMatch(/Success!/);
    expect(status).toBe(0);
    const saved = readFileSync(
      join(home, ".terraform.d", "credentials.tfrc.json"),
      "utf8",
    );
    const { credentials } = JSON.parse(saved) as {
      credentials: Record<string, { token: string }>;
    };
    const { token = "" } = credentials[new URL(mirror.url).host] ?? {};
    expect(decodeJwt(token)).toMatchObject({ aud: "provender", sub: "jane" });

    expect((await init()).output).toContain("successfully initialized");
    const names = readAudit(mirror).map((line) => line.token);
    expect(names).toContain("oidc:jane");
    expect(JSON.stringify(mirror.log)).not.toContain(token.slice(-40));
  });
});
