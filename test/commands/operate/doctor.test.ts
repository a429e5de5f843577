import { once } from "node:events";
import { chmodSync } from "node:fs";
import type { RequestListener } from "node:http";
import { createSecureServer } from "node:http2";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { findFreePort, startNginx } from "../../acceptance/servers.ts";
import { issueToken } from "../../client-token.ts";
import { json } from "../../fakes/faults.ts";
import { startLooseBucket } from "../../fakes/loose-bucket.ts";
import { startProxy } from "../../fakes/proxy.ts";
import { originsOf } from "../../origins.ts";
import { findOnPath } from "../../on-path.ts";
import { runCommand } from "../../running-command.ts";
import {
  scratch,
  startMirror,
  writeConfiguration,
} from "../../running-mirror.ts";
import { canBeOthers, user } from "../../scenes/other-user.ts";
import { startOrigin } from "../../scenes/world.ts";
import { expectDocument } from "../documents.ts";
import { makeDirectory } from "../storage.ts";

type Env = Readonly<Record<string, string>>;
type Settings = Readonly<Record<string, unknown>>;
type Look = () => Promise<readonly string[]>;

const ci = issueToken("ci");

const { authority, registry, config } = await startOrigin();
const auth = { tokens: [ci.configured] };
const mirror = await startMirror({ config: { ...config, auth } });

/** `provender doctor`: the names of the faults. */
async function diagnose(
  args: readonly string[],
  env: Env = {},
  says = /./,
): Promise<readonly string[]> {
  const run = await runCommand(["doctor", "--json", ...args], { env });
  const { ok, checks } = expectDocument("doctor", run.stdout) as {
    readonly ok: boolean;
    readonly checks: readonly Readonly<
      Record<"check" | "state" | "found", string> & { remedy: string | null }
    >[];
  };
  for (const { state, found, remedy } of checks) {
    expect(found).toMatch(/[.?]$/);
    if (state !== "ok") expect(remedy).toMatch(/\.$/);
  }
  expect([run.status, run.stderr]).toEqual([ok ? 0 : 1, ""]);
  expect(run.stdout).not.toContain(ci.token);
  expect(run.stdout).toMatch(says);
  return checks.filter(({ state }) => state !== "ok").map(({ check }) => check);
}

/** A file with this in it. */
function keep(name: string, text: string): string {
  return join(makeDirectory({ [name]: text }), name);
}

/** As the daemon's machine is looked at, with this beside a good configuration. */
function server(settings: Settings = {}): Promise<readonly string[]> {
  const file = join(scratch("config"), "provender.yaml");
  const storage = { directory: scratch("store") };
  writeConfiguration(file, { storage, ...config, ...settings });
  chmodSync(dirname(file), 0o755);
  return diagnose(["--config", file]);
}

const ownCa = keep("ca.pem", authority.caPem);

/** As a client looks at a mirror, by default with its CA and token. */
function client(
  url: string = mirror.url,
  { ca = mirror.caFile, token = ci.token, ...env }: Env = {},
  says = /./,
): Promise<readonly string[]> {
  const variable = `TF_TOKEN_${new URL(url).host.replaceAll(".", "_")}`;
  const args = ["--mirror", url, "--ca", ca];
  return diagnose(args, { [variable]: token, ...env }, says);
}

async function throughProxy(): Promise<readonly string[]> {
  const proxy = await startProxy();
  const faults = client(mirror.url, { HTTPS_PROXY: proxy.url });
  return faults.finally(() => proxy.stop());
}

async function onBucket(status?: number): Promise<readonly string[]> {
  const bucket = await startLooseBucket();
  bucket.intercept = () => status;
  const storage = { directory: scratch("store"), s3: bucket.settings };
  const listen = { port: 0, tls: "off" };
  return server({ storage, listen }).finally(() => bucket.stop());
}

async function certificateFor(names: readonly string[], end?: Date) {
  const issued = await authority.issue(names, end);
  return {
    certificate: keep("tls.crt", issued.certificate),
    key: keep("tls.key", issued.key),
  };
}

/** What looks at a server that answers so, by default without HTTP/2. */
const answering =
  (
    answer: RequestListener,
    says: RegExp,
    make: typeof createSecureServer | typeof createServer = createServer,
  ): Look =>
  async () => {
    const { certificate: cert, key } = await authority.issue(["127.0.0.1"]);
    const other = (make as typeof createServer)({ cert, key }, answer);
    other.listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const faults = client(`https://127.0.0.1:${port}/`, { ca: ownCa }, says);
    return faults.finally(() => other.close());
  };

/** A mirror, as far as one looks, whose own reasons do not arrive. */
const reasonless: RequestListener = (req, res) => {
  const isProbe = req.url?.endsWith("/none.json");
  res.writeHead(isProbe ? 400 : 200);
  res.end(isProbe ? '{"code":"malformed-address"}' : "{}");
};

/** By what is wrong: what looks at it. The first words are the name of the fault. */
const broken: Readonly<Record<string, Look>> = {
  "configuration with an unknown key": () => server({ lisen: {} }),
  "storage on a disk without the room that is to stay free": () =>
    server({ storage: { directory: scratch("store"), minFree: "1000TiB" } }),
  "storage in a bucket that refuses": () => onBucket(403),
  "certificate for another name, and soon at its end": async () => {
    const soon = new Date(Date.now() + 24 * 3_600_000);
    const tls = await certificateFor(["127.0.0.1"], soon);
    expect(await server({ listen: { tls } })).toEqual(["certificate"]);
    const listen = { tls, names: ["mirror.example.com"] };
    return server({ listen });
  },
  "origin that is not there": async () => {
    const url = `https://127.0.0.1:${await findFreePort()}/`;
    return server(originsOf(authority, registry, { url }));
  },
  "origin whose discovery has neither providers.v1 nor modules.v1": () => {
    const document = json(() => ({ "login.v1": {} }));
    registry.script("discovery", document);
    return server().finally(() => registry.heal());
  },
  "mirror under another CA": () => client(mirror.url, { ca: ownCa }),
  "mirror for another token": () => client(mirror.url, { token: "not-it" }),
  "mirror at another path": () => client(`${mirror.url}provider/`),
  "mirror on a closed port": async () =>
    client(`https://127.0.0.1:${await findFreePort()}/`),
  "mirror behind what speaks HTTP/2, which has no reasons": answering(
    reasonless,
    /drops the reasons of refusals/,
    createSecureServer,
  ),
  "mirror behind what drops the reasons": answering(
    reasonless,
    /drops the reasons of refusals/,
  ),
  "mirror whose answer has no end": answering((_, res) => {
    const more = () => void res.write(Buffer.alloc(2 ** 20), more);
    more();
  }, /does not answer as a mirror does/),
};

/** What is well. */
const sound: Readonly<Record<string, Look>> = {
  "certificate files for the names of the mirror": async () => {
    const names = ["mirror.example.com"];
    const tls = await certificateFor([...names, "127.0.0.1"]);
    return server({ listen: { tls, names }, auth });
  },
  "a bucket that answers": () => onBucket(),
  "a folder for an origin": () =>
    server({ origins: { "a.example": { directory: scratch("folder") } } }),
  "a mirror": () => client(),
  "a mirror by its network mirror's URL": () =>
    client(`${mirror.url}providers/`),
  "a mirror behind a proxy": throughProxy,
  "a mirror behind nginx as the manual sets it up": async () => {
    const nginx = findOnPath("nginx", "a mirror behind nginx");
    if (nginx === undefined) return [];
    const directives = `location / { proxy_pass ${mirror.url}; proxy_http_version 1.1; proxy_set_header Host $host; proxy_set_header Connection ""; proxy_buffering off; }`;
    const front = await startNginx(nginx, authority, directives);
    return client(front.url, { ca: ownCa }).finally(() => front.stop());
  },
};

describe("provender doctor", () => {
  it("says in a table that all is well", async () => {
    const args = ["doctor", "--config", mirror.configFile];
    const { status, stdout } = await runCommand(args);
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /^ok {4}configuration +\S+ can be used\. It serves registry\.terraform\.io.*\.$/m,
    );
    expect(stdout).not.toMatch(/^(?:fail|warn)/m);
  });

  it.each(Object.entries(sound))("finds no fault in %s", async (_, look) => {
    expect(await look()).toEqual([]);
  });

  it.each(Object.entries(broken))("names a fault: %s", async (name, look) => {
    expect(await look()).toEqual([name.split(" ")[0]]);
  });
});

it.runIf(canBeOthers)(
  "doctor finds no fault as root in what is another user's, until its owner cannot write it",
  async () => {
    const made = await startMirror({ user });
    await made.stop();
    const storage = { directory: made.directory };
    expect(await server({ storage })).toEqual([]);
    chmodSync(join(made.directory, "staging"), 0o500);
    expect(await server({ storage })).toEqual(["storage"]);
  },
);
