import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { createSecureServer } from "node:http2";
import { createServer as createTlsServer } from "node:https";
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
import { canBeOthers, source, user } from "../../scenes/other-user.ts";
import { startOrigin } from "../../scenes/world.ts";
import { expectDocument } from "../documents.ts";

type Env = Readonly<Record<string, string>>;
type Settings = Readonly<Record<string, unknown>>;
type Look = () => Promise<readonly string[]>;

const ci = issueToken("ci");

const { authority, registry, config } = await startOrigin();
const auth = { tokens: [ci.configured] };
const mirror = await startMirror({ config: { ...config, auth } });

/** `provender doctor`, where by default no client is on PATH: the names of the faults. */
async function diagnose(
  args: readonly string[],
  env: Env = {},
  says = /./,
): Promise<readonly string[]> {
  const PATH = env.PATH ?? scratch("no-programs");
  const all = { env: { ...env, PATH } };
  const run = await runCommand(["doctor", "--json", ...args], all);
  const { ok, checks } = expectDocument("doctor", run.stdout) as {
    readonly ok: boolean;
    readonly checks: readonly {
      readonly check: string;
      readonly state: string;
      readonly found: string;
      readonly remedy: string | null;
    }[];
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
  const file = join(scratch("kept"), name);
  writeFileSync(file, text, { mode: 0o600 });
  return file;
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

async function throughProxy(refuse?: string): Promise<readonly string[]> {
  const proxy = await startProxy(refuse === undefined ? {} : { refuse });
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

/** What looks at a server that answers so. */
const answering =
  (answer: RequestListener, says: RegExp): Look =>
  async () => {
    const { certificate, key } = await authority.issue(["127.0.0.1"]);
    const other = createTlsServer({ cert: certificate, key }, answer);
    other.listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const faults = client(`https://127.0.0.1:${port}/`, { ca: ownCa }, says);
    return faults.finally(() => {
      other.closeAllConnections();
      other.close();
    });
  };

/** Looks through a proxy that speaks HTTP/2 with clients, which has no reasons. */
async function throughHttp2(): Promise<readonly string[]> {
  const { certificate, key } = await authority.issue(["127.0.0.1"]);
  const front = createSecureServer({ cert: certificate, key });
  front.on("request", ({ url, headers: { authorization = "" } }, res) => {
    const passOn = async () => {
      const answer = await mirror.get(url, { headers: { authorization } });
      res.writeHead(answer.status).end(answer.body);
    };
    void passOn();
  });
  front.listen(0, "127.0.0.1");
  await once(front, "listening");
  const { port } = front.address() as AddressInfo;
  const url = `https://127.0.0.1:${port}/`;
  const faults = client(url, { ca: ownCa }, /drops the reasons of refusals/);
  return faults.finally(() => front.close());
}

/** By what is wrong: the name of the fault, and what looks at it. */
const broken: Readonly<Record<string, readonly [string, Look]>> = {
  "an unknown key": ["configuration", () => server({ lisen: {} })],
  "a disk without the room that is to stay free": [
    "storage",
    () => {
      const storage = { directory: scratch("store"), minFree: "1000TiB" };
      return server({ storage });
    },
  ],
  "a store of a newer program": [
    "storage",
    () => {
      const directory = dirname(keep("store.json", '{"version":99}'));
      return server({ storage: { directory } });
    },
  ],
  "an expired certificate": [
    "certificate",
    async () => {
      const yesterday = new Date(Date.now() - 24 * 3_600_000);
      const tls = await certificateFor(["127.0.0.1"], yesterday);
      return server({ listen: { tls } });
    },
  ],
  "an origin that is not there": [
    "origin",
    async () => {
      const url = `https://127.0.0.1:${await findFreePort()}/`;
      return server(originsOf(authority, registry, { url }));
    },
  ],
  "a bucket that refuses": ["storage", () => onBucket(403)],
  "discovery without providers.v1 and modules.v1": [
    "origin",
    () => {
      registry.script(
        "discovery",
        json(() => ({ "login.v1": {} })),
      );
      return server().finally(() => registry.heal());
    },
  ],
  "a mirror under another CA": [
    "mirror",
    () => client(mirror.url, { ca: ownCa }),
  ],
  "a wrong token for a mirror": [
    "mirror",
    () => client(mirror.url, { token: "not-this-one" }),
  ],
  "a wrong path of a mirror": [
    "mirror",
    () => client(`${mirror.url}provider/`),
  ],
  "a proxy that refuses every request to a mirror": [
    "mirror",
    () => throughProxy("403 Forbidden"),
  ],
  "a closed port in place of a mirror": [
    "mirror",
    async () => client(`https://127.0.0.1:${await findFreePort()}/`),
  ],
  "a proxy that speaks HTTP/2 in front of a mirror": ["mirror", throughHttp2],
  "a page in place of a mirror": [
    "mirror",
    answering((_, res) => res.end("<h1>It works!</h1>"), /is not provender's/),
  ],
  "an answer without end in place of a mirror": [
    "mirror",
    answering((_, res) => {
      const more = () => void res.write(Buffer.alloc(2 ** 20), more);
      more();
    }, /does not answer as a mirror does/),
  ],
};

/** What is well. */
const sound: Readonly<Record<string, Look>> = {
  "certificate files for the names of the mirror": async () => {
    const names = ["mirror.example.com"];
    const tls = await certificateFor([...names, "127.0.0.1"]);
    return server({ listen: { tls, names }, auth });
  },
  "a bucket that answers": () => onBucket(),
  "a folder for an origin": () => {
    const origins = { "a.example": { directory: scratch("folder") } };
    return server({ origins });
  },
  "a mirror": () => client(),
  "a mirror by its network mirror's URL": () =>
    client(`${mirror.url}providers/`),
  "a mirror behind a proxy": () => throughProxy(),
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

  it.each(Object.entries(broken))("names %s", async (_, [fault, look]) => {
    expect(await look()).toEqual([fault]);
  });
});

describe.runIf(canBeOthers)("provender doctor of a store", () => {
  /** A store with its folders, of one user alone. */
  async function makeStore(): Promise<string> {
    const made = await startMirror({ user });
    await made.stop();
    return made.directory;
  }

  it("finds no fault as root in what is another user's", async () => {
    const storage = { directory: await makeStore() };
    expect(await server({ storage })).toEqual([]);
  });

  it("names a directory that its owner cannot write", async () => {
    const directory = await makeStore();
    chmodSync(join(directory, "staging"), 0o500);
    expect(await server({ storage: { directory } })).toEqual(["storage"]);
  });

  it("names a directory that is another user's", () => {
    const storage = { directory: scratch("of-root") };
    const file = join(scratch("config"), "provender.yaml");
    writeConfiguration(file, { offline: true, storage });
    for (const path of [storage.directory, dirname(file)])
      chmodSync(path, 0o755);
    const doctor = [source, "doctor", "--config", file];
    const as = { uid: user, gid: user };
    const { status, stdout } = spawnSync(process.execPath, doctor, as);
    expect(status).toBe(1);
    expect(String(stdout)).toMatch(/^fail +storage /m);
  });
});
