import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { imageUser } from "../../packaging/image.ts";
import { root } from "../../packaging/project.ts";
import { load } from "../config/written.ts";
import { createAuthority } from "../fakes/authority.ts";
import { runCommand } from "../running-command.ts";
import { scratch } from "../running-mirror.ts";
import { has, run } from "./release.ts";

const folder = join(root, "packaging");
const read = (...names: string[]) =>
  readFileSync(join(folder, ...names), "utf8");
const canBuild = has("kustomize", "the manifests for Kubernetes");
const canBalance = has("haproxy", "the balancer of the compose files");

/** Fields of every Kubernetes manifest. */
interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

it.each(["compose", "kustomize/base"])(
  "the configuration of %s is good",
  async (of) => {
    const file = join(folder, of, "config.yaml");
    const run = await runCommand(["config", "--config", file]);
    expect(run.stderr).toContain(`${file}: good\n`);
    expect(run.status).toBe(0);
  },
);

it.each([
  ["compose", { kind: "off" }],
  ["kustomize", { kind: "files", key: "/etc/provender-tls/tls.key" }],
])(
  "that of three replicas in %s has the database of the environment",
  (of, tls) => {
    const { listen, database } = load(read(of, "replicas", "config.yaml"), {
      DATABASE_URL: "postgres://host/name",
    });
    expect(listen.tls).toMatchObject(tls);
    expect(database.url?.source).toBe("env DATABASE_URL");
  },
);

describe("the files for compose", () => {
  it("have replicas trust the network that their balancer is in", () => {
    const { networks } = parse(read("compose", "replicas", "compose.yaml")) as {
      networks: { replicas: { ipam: { config: { subnet: string }[] } } };
    };
    const [{ subnet } = { subnet: "" }] = networks.replicas.ipam.config;
    expect(read("compose", "replicas", "config.yaml")).toContain(`[${subnet}]`);
  });

  it.runIf(canBalance)("have a balancer that HAProxy takes", async () => {
    const copy = scratch("haproxy");
    const authority = await createAuthority();
    const { certificate, key } = await authority.issue(["localhost"]);
    const pem = join(copy, "mirror.pem");
    writeFileSync(pem, `${certificate}\n${key}`);
    const file = join(copy, "haproxy.cfg");
    const text = read("compose", "replicas", "haproxy.cfg");
    writeFileSync(file, text.replace("/etc/haproxy/mirror.pem", pem));
    await run("haproxy", ["-c", "-f", file]);
  });
});

describe("the manifests for Kubernetes", () => {
  async function build(name: string) {
    const path = join(folder, "kustomize", name);
    const { stdout } = await run("kustomize", ["build", path]);
    const all = parseAllDocuments(stdout).map(
      (document) => document.toJS() as Manifest,
    );
    return { all, set: all.find(({ kind }) => kind === "StatefulSet") };
  }

  it.skipIf(!canBuild)(
    "are built by kustomize, for the image's user and nothing more",
    async () => {
      const { all, set } = await build("base");
      for (const { kind, metadata } of all)
        if (kind !== "Namespace") expect(metadata.namespace).toBe("provender");
      const container = {
        securityContext: {
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        },
        readinessProbe: { httpGet: { path: "/readyz" } },
      };
      const securityContext = { runAsNonRoot: true, runAsUser: imageUser };
      expect(set).toMatchObject({
        spec: {
          template: { spec: { securityContext, containers: [container] } },
        },
      });
    },
  );

  it.skipIf(!canBuild)(
    "have three replicas take a database's URL from a secret",
    async () => {
      const { set } = await build("replicas");
      const container = {
        env: [{ name: "DATABASE_URL", valueFrom: { secretKeyRef: {} } }],
        securityContext: { readOnlyRootFilesystem: true },
      };
      expect(set).toMatchObject({
        spec: { replicas: 3, template: { spec: { containers: [container] } } },
      });
    },
  );
});
