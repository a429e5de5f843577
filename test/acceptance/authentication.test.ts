import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { issueToken } from "../client-token.ts";
import { createAuthority } from "../fakes/authority.ts";
import { startRegistry, type Registry } from "../fakes/registry.ts";
import type { Release } from "../fakes/release.ts";
import { originsOf } from "../origins.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import {
  credentialsConfig,
  findClients,
  hostConfig,
  networkMirrorConfig,
  readLockFile,
  runClient,
  writeConfiguration,
  type Client,
  type ClientRun,
} from "./clients.ts";

const clients = await findClients();
if (clients.length === 0)
  it.skip("asks real clients for a token: none is on PATH", () => undefined);

const address = "registry.terraform.io/acme/widget";
const ci = issueToken("ci");
const auth = { tokens: [ci.configured] };

let registry: Registry;
let release: Release;
let mirror: RunningMirror;

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  release = await registry.publish({ version: "1.2.3", size: 300_000 });
  const config = { ...originsOf(authority, registry), auth };
  mirror = await startMirror({ config });
});

afterAll(async () => {
  await mirror.stop();
  await registry.stop();
});

/** `host:port` of the mirror, as clients name it. */
const hostOf = () => new URL(mirror.url).host;

async function init(
  client: Client,
  credentials: {
    readonly block?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly installation?: string;
  },
): Promise<ClientRun & { readonly directory: string }> {
  const directory = scratch("init");
  await writeConfiguration(directory, {
    widget: { source: address, version: "1.2.3" },
  });
  const {
    block: credentialsBlock = "",
    installation = networkMirrorConfig(`${mirror.url}providers/`),
    env = {},
  } = credentials;
  const ran = await runClient(client, ["init", "-no-color"], {
    directory,
    cliConfig: `${credentialsBlock}${installation}`,
    caFile: mirror.caFile,
    env,
  });
  return { ...ran, directory };
}

const block = () => credentialsConfig(hostOf(), ci.token);

describe.each(clients)("$name $version with authentication on", (client) => {
  it("installs with the token of a credentials block", async () => {
    const ran = await init(client, { block: block() });
    expect(ran.output).toContain("successfully initialized");
    const hashes = (await readLockFile(ran.directory)).get(address)?.hashes;
    expect(hashes).toContain(release.archive("linux_amd64").h1);
  });

  it("installs with the token of an environment variable", async () => {
    const name = `TF_TOKEN_${hostOf().replaceAll(".", "_")}`;
    const ran = await init(client, { env: { [name]: ci.token } });
    expect(ran.output).toContain("successfully initialized");
  });

  it("installs through a host block with the token of the provider's hostname, and checks the signature itself", async () => {
    const host = "registry.terraform.io";
    const ran = await init(client, {
      block: credentialsConfig(host, ci.token),
      installation: hostConfig(host, {
        "providers.v1": `${mirror.url}v1/providers/${host}/`,
      }),
    });
    expect(ran.output).toContain(release.signer.keyId);
    expect(ran.output).toContain("successfully initialized");
    const none = await init(client, {
      installation: hostConfig(host, {
        "providers.v1": `${mirror.url}v1/providers/${host}/`,
      }),
    });
    expect(none.status).toBe(1);
  });

  it("is refused without a token, and says that it has none or a wrong one", async () => {
    registry.requests.clear();
    const none = await init(client, {});
    const wrong = await init(client, {
      block: credentialsConfig(hostOf(), "wrong"),
    });
    for (const ran of [none, wrong]) {
      expect(ran.status).toBe(1);
      expect(ran.output).toMatch(/credentials|401|[Uu]nauthorized/);
    }
    expect(registry.requests.count()).toBe(0);
  });
});
