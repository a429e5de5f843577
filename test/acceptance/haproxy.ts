import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { endingWithTests } from "../child-process.ts";
import type { Authority } from "../fakes/authority.ts";
import { scratch, type RunningMirror } from "../running-mirror.ts";
import { findFreePort, untilListening } from "./nginx.ts";

export interface Balancer {
  readonly url: string;
  readonly caFile: string;
  stop(): Promise<void>;
}

/** `hash`: the same path goes to the same replica, as docs/replicas.md has it. */
export type Balance = "roundrobin" | "hash";

const balances: Readonly<Record<Balance, string>> = {
  roundrobin: "balance roundrobin",
  hash: "balance uri path-only\n  hash-type consistent",
};

/** HAProxy with TLS in front of replicas. */
export async function startBalancer(
  authority: Authority,
  replicas: readonly RunningMirror[],
  balance: Balance,
): Promise<Balancer> {
  const directory = scratch("haproxy");
  const { certificate, key } = await authority.issue(["127.0.0.1"]);
  await writeFile(join(directory, "site.pem"), `${certificate}\n${key}`);
  const caFile = join(directory, "ca.pem");
  await writeFile(caFile, authority.caPem);
  const port = await findFreePort();
  const file = join(directory, "haproxy.cfg");
  await writeFile(
    file,
    configure(directory, port, replicas, balances[balance]),
  );
  const child = spawn(...endingWithTests("haproxy", ["-db", "-f", file]), {
    stdio: "ignore",
  });
  const exit = once(child, "exit");
  await untilListening(port, child);
  return {
    url: `https://127.0.0.1:${port}/`,
    caFile,
    stop: async () => {
      child.kill("SIGTERM");
      await exit;
    },
  };
}

function configure(
  directory: string,
  port: number,
  replicas: readonly RunningMirror[],
  balance: string,
): string {
  const servers = replicas.map(
    ({ url }, index) => `server r${index} ${new URL(url).host} check`,
  );
  return `global
  maxconn 1000
defaults
  mode http
  timeout connect 2s
  timeout client 300s
  timeout server 300s
  option httpchk GET /readyz
  option redispatch
  retry-on conn-failure empty-response 503
frontend site
  bind 127.0.0.1:${port} ssl crt ${directory}/site.pem
  default_backend replicas
backend replicas
  ${balance}
  ${servers.join("\n  ")}
`;
}
