import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { expect } from "vitest";
import {
  findClients,
  init,
  networkMirrorConfig,
} from "../acceptance/clients.ts";
import { createAuthority } from "../fakes/authority.ts";
import { startRegistry } from "../fakes/registry.ts";
import { startDaemon } from "../running-mirror.ts";

const clients = await findClients();

export type InstalledScene = Awaited<ReturnType<typeof makeInstalledScene>>;

/** A registry for a daemon below another root. */
export async function makeInstalledScene() {
  const authority = await createAuthority();
  const registry = await startRegistry({ authority });
  await registry.publish({ version: "1.2.3", platforms: ["linux_amd64"] });
  return {
    registry,
    /** Writes the configuration that names it below the root, by the path that the daemon sees. */
    configure: (root: string) => {
      const folder = join(root, "etc/provender");
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "origin-ca.pem"), authority.caPem);
      const file = join(folder, "config.yaml");
      const origin = { url: registry.url, ca: "/etc/provender/origin-ca.pem" };
      const text = stringify({
        listen: { host: "127.0.0.1", port: 0 },
        storage: { directory: "/var/lib/provender" },
        origins: {
          "registry.terraform.io": origin,
          "registry.opentofu.org": "off",
        },
      });
      writeFileSync(file, text);
      return text;
    },
    /** Installs a provider through the daemon with every client of this machine. */
    initThrough: async (url: string, caFile: string) => {
      for (const client of clients) {
        const source = "registry.terraform.io/acme/widget";
        const widget = { source, version: "1.2.3" };
        const cliConfig = networkMirrorConfig(`${url}providers/`);
        expect(readFileSync(caFile, "utf8")).toContain("CERTIFICATE");
        const options = { cliConfig, caFile };
        const { status, output } = await init(client, { widget }, options);
        expect(output).toContain("successfully initialized");
        expect(status).toBe(0);
      }
    },
  };
}

/** Starts what the installed unit starts, as its user and with its environment, below a root of its own. */
export function startUnit(root: string) {
  const unit = readFileSync(
    join(root, "usr/lib/systemd/system/provender.service"),
    "utf8",
  );
  const read = (key: string) =>
    new RegExp(`^${key}=(.*)$`, "m").exec(unit)?.[1] ?? "";
  const user = `${read("User")}:${read("Group")}`;
  const state = `/var/lib/${read("StateDirectory")}`;
  return startDaemon("chroot", [
    `--userspec=${user}`,
    root,
    ...["env", "-i", "PATH=/usr/bin:/bin", `HOME=${state}`],
    ...[`STATE_DIRECTORY=${state}`, ...read("Environment").split(" ")],
    ...read("ExecStart").split(" "),
  ]);
}
