import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { load } from "../config/written.ts";
import { createAuthority } from "../fakes/authority.ts";
import { runCommand } from "../running-command.ts";
import { scratch } from "../running-mirror.ts";
import { has, run } from "./release.ts";

const folder = join(import.meta.dirname, "..", "..", "packaging", "compose");
const read = (...names: string[]) =>
  readFileSync(join(folder, ...names), "utf8");
const canBalance = await has(
  "haproxy",
  "the balancer of the files for compose",
);

describe("compose of one", () => {
  it("names its image, its store, its probe and no further rights", () => {
    const any = expect.anything() as unknown;
    expect(parse(read("compose.yaml"))).toMatchObject({
      services: {
        provender: {
          read_only: true,
          cap_drop: ["ALL"],
          volumes: ["store:/var/lib/provender", any],
          healthcheck: { test: ["CMD", "/usr/lib/provender/node", "-e", any] },
        },
      },
      volumes: { store: {} },
    });
  });

  it("has a configuration that is good", async () => {
    const file = join(folder, "config.yaml");
    const checked = await runCommand(["config", "--config", file]);
    expect(checked.status).toBe(0);
    expect(checked.stderr).toContain(`${file}: good\n`);
  });
});

describe("compose of three replicas", () => {
  it("trusts the network that its balancer is in", () => {
    const { listen, database } = load(read("replicas", "config.yaml"), {
      DATABASE_URL: "postgres://host/name",
    });
    const { networks } = parse(read("replicas", "compose.yaml")) as {
      networks: { replicas: { ipam: { config: { subnet: string }[] } } };
    };
    const [{ subnet } = { subnet: "" }] = networks.replicas.ipam.config;
    expect(read("replicas", "config.yaml")).toContain(`[${subnet}]`);
    expect(listen.tls).toEqual({ kind: "off" });
    expect(database.url?.source).toBe("env DATABASE_URL");
  });

  it.runIf(canBalance)("has a balancer that HAProxy takes", async () => {
    const copy = scratch("haproxy");
    const { certificate, key } = await (
      await createAuthority()
    ).issue(["localhost"]);
    const pem = join(copy, "mirror.pem");
    writeFileSync(pem, `${certificate}\n${key}`);
    const file = join(copy, "haproxy.cfg");
    const text = read("replicas", "haproxy.cfg");
    writeFileSync(file, text.replace("/etc/haproxy/mirror.pem", pem));
    await run("haproxy", ["-c", "-f", file]);
  });
});
