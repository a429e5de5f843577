import { Agent } from "node:https";
import { startDaemon } from "../daemon.ts";
import { fetchDocument } from "../download.ts";
import { figure, interleave, ratioOf, timeOf } from "../figure.ts";
import { mirrorPath, startOrigin } from "../origin.ts";
import type { Row } from "../row.ts";

const platforms = [
  ...["darwin_amd64", "darwin_arm64", "freebsd_386", "freebsd_amd64"],
  ...["freebsd_arm", "linux_386", "linux_amd64", "linux_arm", "linux_arm64"],
  ...["linux_ppc64le", "linux_s390x", "windows_386", "windows_amd64"],
  "windows_arm64",
];

export const coldVersion: Row = {
  name: "cold-version",
  what: "cold VERSION.json, 14 platforms, origin 100 ms away",
  against: "the four serial requests it needs",
  needs: [],
  run: async ({ rounds }, scene) => {
    // Each round needs its own hostname, because the mirror caches discovery.
    const numbers = Array.from({ length: 2 * rounds }, (_, round) => round);
    const hostnames = numbers.map((round) => `round-${round}.example.com`);
    const origin = scene.add(await startOrigin({ latencyMs: 100 }, hostnames));
    const { registry } = origin;
    const release = { type: "demo", version: "1.0.0", platforms };
    await registry.publish(release);
    const daemon = scene.add(await startDaemon(origin.config));
    const ours = async (round: number) => {
      const path = mirrorPath("demo", hostnames[round]);
      const agent = new Agent({ ca: daemon.ca });
      const url = `${daemon.url}${path}1.0.0.json`;
      return timeOf(() => fetchDocument(url, daemon.ca, agent));
    };
    const times = await interleave(numbers.length, ours, () =>
      timeOf(() => fetchSerially(registry.url, origin.ca)),
    );
    return [
      figure("time", ratioOf(times.ours, times.theirs), "×", "≤", 1.2),
      figure(
        "archive requests",
        registry.requests.count("archive"),
        "requests",
        "=",
        0,
      ),
    ];
  },
};

/** Discovery, versions, one package and its checksums, over one connection. */
async function fetchSerially(url: string, ca: string): Promise<void> {
  const agent = new Agent({ ca, keepAlive: true });
  const provider = "v1/providers/acme/demo/";
  const paths = [
    ".well-known/terraform.json",
    `${provider}versions`,
    `${provider}1.0.0/download/linux/amd64`,
    "archives/acme/demo/1.0.0/terraform-provider-demo_1.0.0_SHA256SUMS",
  ];
  for (const path of paths) await fetchDocument(`${url}${path}`, ca, agent);
  agent.destroy();
}
