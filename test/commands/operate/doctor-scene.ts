import { once } from "node:events";
import { chmodSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { issueToken } from "../../client-token.ts";
import { createAuthority } from "../../fakes/authority.ts";
import type { Fault } from "../../fakes/faults.ts";
import { startProxy } from "../../fakes/proxy.ts";
import { startRegistry } from "../../fakes/registry.ts";
import { originsOf } from "../../origins.ts";
import { runCommand, type CommandRun } from "../../running-command.ts";
import {
  scratch,
  startMirror,
  writeConfiguration,
} from "../../running-mirror.ts";
import { expectDocument } from "../documents.ts";

export const ci = issueToken("ci");

export interface Diagnosis {
  /** Faults by name. */
  readonly faults: readonly string[];
  readonly run: CommandRun;
}

type Env = Readonly<Record<string, string>>;

/** `provender doctor`, where by default no client is on PATH. */
async function diagnose(
  args: readonly string[],
  env: Env = {},
): Promise<Diagnosis> {
  const PATH = env.PATH ?? scratch("no-programs");
  const run = await runCommand(["doctor", "--json", ...args], {
    env: { ...env, PATH },
  });
  const { ok, checks } = expectDocument("doctor", run.stdout) as {
    ok: boolean;
    checks: readonly {
      check: string;
      state: string;
      found: string;
      remedy: string | null;
    }[];
  };
  for (const { state, found, remedy } of checks) {
    expect(found).toMatch(/[.?]$/);
    if (state !== "ok") expect(remedy).toMatch(/\.$/);
  }
  expect(run.status).toBe(ok ? 0 : 1);
  expect(run.stdout + run.stderr).not.toContain(ci.token);
  const wrong = checks.filter(({ state }) => state !== "ok");
  return { faults: wrong.map(({ check }) => check), run };
}

/** A file with this in it. */
export function keep(name: string, text: string, mode = 0o600): string {
  const file = join(scratch("kept"), name);
  writeFileSync(file, text, { mode });
  return file;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

export const yesterday = () => new Date(Date.now() - 24 * 3_600_000);

export async function withProxy(
  refuse: string | undefined,
  look: (env: Env) => Promise<Diagnosis>,
): Promise<Diagnosis> {
  const proxy = await startProxy(refuse === undefined ? {} : { refuse });
  try {
    return await look({ HTTPS_PROXY: proxy.url });
  } finally {
    await proxy.stop();
  }
}

/** A mirror that wants tokens, and its origin, as doctor finds them. */
export async function startDoctorScene() {
  const authority = await createAuthority();
  const registry = await startRegistry({ authority });
  const auth = { tokens: [ci.configured] };
  const config = { ...originsOf(authority, registry), auth };
  const mirror = await startMirror({ config });
  /** The configuration of the origin, with these settings. */
  const origins = (settings: Readonly<Record<string, unknown>> = {}) =>
    originsOf(authority, registry, settings);
  /** As the daemon's machine is looked at, with this beside a good configuration. */
  const server = (
    settings: Readonly<Record<string, unknown>> = {},
    env?: Env,
  ): Promise<Diagnosis> => {
    const file = join(scratch("config"), "provender.yaml");
    const storage = { directory: scratch("store") };
    writeConfiguration(file, { storage, ...origins(), ...settings });
    chmodSync(dirname(file), 0o755);
    return diagnose(["--config", file], env);
  };
  return {
    ...{ authority, registry, mirror, origins, server },
    /** As a client looks at the mirror, by default with its CA and token. */
    client: (
      url: string = mirror.url,
      { ca = mirror.caFile, token = ci.token, ...env }: Env = {},
    ): Promise<Diagnosis> => {
      const variable = `TF_TOKEN_${new URL(url).host.replaceAll(".", "_")}`;
      const given = { [variable]: token };
      return diagnose(["--mirror", url, "--ca", ca], { ...given, ...env });
    },
    /** The origin answers so while it is looked at. */
    whileOrigin: (fault: Fault): Promise<Diagnosis> => {
      registry.script("discovery", fault);
      return server().finally(() => registry.heal());
    },
    certificateFiles: async (names: readonly string[], end?: Date) => {
      const { certificate, key } = await authority.issue(names, end);
      return {
        certificate: keep("tls.crt", certificate),
        key: keep("tls.key", key),
      };
    },
  };
}
