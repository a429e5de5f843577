import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
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

it.each(["compose", "kustomize/base"])(
  "the configuration of %s is good",
  async (of) => {
    const file = join(folder, of, "config.yaml");
    const run = await runCommand(["config", "--config", file]);
    expect(run.stderr).toContain(`${file}: good\n`);
    expect(run.status).toBe(0);
  },
);

it("the configurations of three replicas have the database of the environment, and trust the balancer in front", () => {
  for (const [of, tls] of [
    ["compose", { kind: "off" }],
    ["kustomize", { kind: "files", key: "/etc/provender-tls/tls.key" }],
  ] as const) {
    const { listen, database } = load(read(of, "replicas", "config.yaml"), {
      DATABASE_URL: "postgres://host/name",
    });
    expect(listen.tls).toMatchObject(tls);
    expect(database.url?.source).toBe("env DATABASE_URL");
  }
  const { networks } = parse(read("compose", "replicas", "compose.yaml")) as {
    networks: { replicas: { ipam: { config: { subnet: string }[] } } };
  };
  const [{ subnet } = { subnet: "" }] = networks.replicas.ipam.config;
  expect(read("compose", "replicas", "config.yaml")).toContain(`[${subnet}]`);
});

it.runIf(canBalance)("HAProxy takes the balancer's configuration", async () => {
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

it.runIf(canBuild)(
  "kustomize builds the manifests, for the image's user and nothing more, and with a database's URL from a secret",
  async () => {
    const build = async (name: string) => {
      const path = join(folder, "kustomize", name);
      const { stdout } = await run("kustomize", ["build", path]);
      const all = parseAllDocuments(stdout).map(
        (one) => one.toJS() as Manifest,
      );
      return { all, set: all.find(({ kind }) => kind === "StatefulSet") };
    };
    const { all, set } = await build("base");
    for (const { kind, metadata } of all)
      if (kind !== "Namespace") expect(metadata.namespace).toBe("provender");
    const securityContext = {
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    };
    const readinessProbe = { httpGet: { path: "/readyz" } };
    expect(set).toMatchObject({
      spec: {
        template: {
          spec: {
            securityContext: { runAsNonRoot: true, runAsUser: imageUser },
            containers: [{ securityContext, readinessProbe }],
          },
        },
      },
    });
    const env = [{ name: "DATABASE_URL", valueFrom: { secretKeyRef: {} } }];
    expect((await build("replicas")).set).toMatchObject({
      spec: { replicas: 3, template: { spec: { containers: [{ env }] } } },
    });
  },
);

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly namespace?: string };
}
