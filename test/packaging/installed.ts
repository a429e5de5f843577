import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { expect } from "vitest";
import {
  findClients,
  networkMirrorConfig,
  runClient,
  writeConfiguration,
} from "../acceptance/clients.ts";
import { createAuthority } from "../fakes/authority.ts";
import { startRegistry, type Registry } from "../fakes/registry.ts";
import { scratch } from "../running-mirror.ts";

const clients = await findClients();

/** A registry for a daemon below another root, and the configuration that names it there. */
export interface InstalledScene {
  readonly registry: Registry;
  /** Below the root, by the path that the daemon sees. */
  configure(root: string): string;
  /** Installs a provider through the daemon with every client of this machine. */
  initThrough(url: string, caFile: string): Promise<void>;
}

export async function makeInstalledScene(): Promise<InstalledScene> {
  const authority = await createAuthority();
  const registry = await startRegistry({ authority });
  await registry.publish({ version: "1.2.3", platforms: ["linux_amd64"] });
  return {
    registry,
    configure: (root) => {
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
    initThrough: async (url, caFile) => {
      for (const client of clients) {
        const directory = scratch("init");
        await writeConfiguration(directory, {
          widget: {
            source: "registry.terraform.io/acme/widget",
            version: "1.2.3",
          },
        });
        const cliConfig = networkMirrorConfig(`${url}providers/`);
        expect(readFileSync(caFile, "utf8")).toContain("CERTIFICATE");
        const options = { directory, cliConfig, caFile };
        const { status, output } = await runClient(client, ["init"], options);
        expect(output).toContain("successfully initialized");
        expect(status).toBe(0);
      }
    },
  };
}
