import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";

/** Names that ipaddr.js takes for no zone. */
const interfaces = ["br-lan.10", "eth0.10"] as const;

const script = join(
  import.meta.dirname,
  ...["..", "scenes", "link-local-clients.ts"],
);
const [bridge, port] = interfaces;
const setUp = [
  `ip link add ${bridge} type veth peer name ${port}`,
  "ip link set lo up",
  ...interfaces.flatMap((name, index) => [
    `ip addr add fe80::${index + 1}/64 dev ${name} nodad`,
    `ip link set ${name} up`,
  ]),
].join(" && ");

const canSetUp = spawnSync("unshare", ["-n", "sh", "-c", setUp]).status === 0;
if (!canSetUp)
  console.warn(
    "NOT TESTED: link-local clients, for want of the right to make a network (unshare -n, ip)",
  );

it.runIf(canSetUp)(
  "answers link-local clients on interfaces of any name",
  { timeout: 60_000 },
  () => {
    const run = `${setUp} && exec "$0" "$@"`;
    const args = ["-n", "sh", "-c", run, process.execPath, script];
    const printed = execFileSync("unshare", args, { encoding: "utf8" });
    const { answers, clients, status } = JSON.parse(printed) as {
      answers: readonly { host: string; answer: string }[];
      clients: readonly string[];
      status: number;
    };
    expect(answers.length).toBeGreaterThanOrEqual(2);
    for (const { answer } of answers) expect(answer).toBe("HTTP/1.1 200 OK");
    for (const name of interfaces)
      expect(answers.some(({ host }) => host.endsWith(`%${name}`))).toBe(true);
    expect(clients.length).toBe(answers.length);
    for (const client of clients) expect(client).toMatch(/^fe80::[0-9a-f:]+$/);
    expect(status).toBe(0);
  },
);
