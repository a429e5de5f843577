import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
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
import {
  findClients,
  networkMirrorConfig,
  writeConfiguration,
} from "./clients.ts";
import { moveIn } from "./login.ts";

const clients = await findClients();
if (clients.length === 0)
  it.skip("logs in with a real client: none is on PATH", () => undefined);

let authority: Authority;
let registry: Registry;
let openId: OpenIdServer;
let mirror: RunningMirror;
let authorityFile: string;
let caFile: string;

beforeAll(async () => {
  authority = await createAuthority();
  registry = await startRegistry({ authority });
  await registry.publish({ version: "1.0.0", size: 20_000 });
  openId = await startOpenIdServer(authority);
  const { issuer, audience, clientId } = openId;
  authorityFile = join(scratch("ca"), "ca.pem");
  await writeFile(authorityFile, authority.caPem);
  mirror = await startMirror({
    config: {
      ...originsOf(authority, registry),
      auth: { oidc: { issuer, audience, clientId, ca: authorityFile } },
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

describe.each(clients)("$name $version login", (client) => {
  it("gets an access token, with which init installs", async () => {
    const directory = scratch("login");
    await writeConfiguration(directory, {
      widget: { source: "registry.terraform.io/acme/widget" },
    });
    const atHome = await moveIn(client, directory, {
      cliConfig: networkMirrorConfig(`${mirror.url}providers/`),
      caFile,
    });
    const { init } = atHome;
    expect((await init()).status).toBe(1);

    const { status, output } = await atHome.login(mirror.url, authority.caPem);
    expect(output).toMatch(/Success!/);
    expect(status).toBe(0);
    const saved = readFileSync(
      join(atHome.home, ".terraform.d", "credentials.tfrc.json"),
      "utf8",
    );
    const { credentials } = JSON.parse(saved) as {
      credentials: Record<string, { token: string }>;
    };
    const { token = "" } = credentials[new URL(mirror.url).host] ?? {};
    expect(decodeJwt(token)).toMatchObject({ aud: "provender", sub: "jane" });

    expect((await init()).output).toContain("successfully initialized");
    const names = readAudit(mirror).map((line) => line.token);
    expect(names).toContain(`oidc:jane@${new URL(openId.issuer).host}`);
    expect(JSON.stringify(mirror.log)).not.toContain(token.slice(-40));
  });
});
