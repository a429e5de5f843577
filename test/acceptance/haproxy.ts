import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { Agent } from "node:https";
import { join } from "node:path";
import { endingWithTests } from "../child-process.ts";
import type { Authority } from "../fakes/authority.ts";
import {
  fetchFrom,
  scratch,
  type Answer,
  type GetOptions,
  type RunningMirror,
} from "../running-mirror.ts";
import { untilListening } from "./nginx.ts";

export interface Balancer {
  readonly url: string;
  readonly caFile: string;
  get(path: string, options?: GetOptions): Promise<Answer>;
  stop(): Promise<void>;
}

const packaged = join(
  ...[import.meta.dirname, "..", "..", "packaging"],
  ...["compose", "replicas", "haproxy.cfg"],
);

/** HAProxy as the compose file runs it, but round robin, in front of these replicas, at the URL that they tell clients. */
export async function startBalancer(
  authority: Authority,
  url: URL,
  replicas: readonly RunningMirror[],
): Promise<Balancer> {
  const directory = scratch("haproxy");
  const { certificate, key } = await authority.issue(["127.0.0.1"]);
  await writeFile(join(directory, "site.pem"), `${certificate}\n${key}`);
  const caFile = join(directory, "ca.pem");
  await writeFile(caFile, authority.caPem);
  const port = Number(url.port);
  const file = join(directory, "haproxy.cfg");
  await writeFile(file, configure(directory, port, replicas));
  const child = spawn(...endingWithTests("haproxy", ["-db", "-f", file]), {
    stdio: "ignore",
  });
  const exit = once(child, "exit");
  await untilListening(port, child);
  const agent = new Agent({ ca: authority.caPem });
  return {
    url: url.href,
    caFile,
    get: (path, options = {}) => fetchFrom(new URL(path, url), agent, options),
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
): string {
  const servers = replicas.map(
    ({ url }, index) => `  server r${index} ${new URL(url).host} check`,
  );
  return readFileSync(packaged, "utf8")
    .replace(/^ {2}log stdout .*$/m, "")
    .replace("bind :8443", `bind 127.0.0.1:${port}`)
    .replace("/etc/haproxy/mirror.pem", join(directory, "site.pem"))
    .replace(/^ {2}server-template .*$/m, servers.join("\n"))
    .replace(/balance uri[^]*?hash-balance.*/, "balance roundrobin");
}
