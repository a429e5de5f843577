import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { imageUser } from "../../packaging/image.ts";
import { load } from "../config/written.ts";
import { runCommand } from "../running-command.ts";
import { has, run } from "./release.ts";

const folder = join(import.meta.dirname, "..", "..", "packaging", "kustomize");
const base = join(folder, "base");
const canBuild = await has("kustomize", "the manifests for Kubernetes");

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

function readAll(text: string): readonly Manifest[] {
  return parseAllDocuments(text).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as Manifest;
  });
}

/** What is built of a folder, and its stateful set among that. */
async function build(name: string) {
  const { stdout } = await run("kustomize", ["build", join(folder, name)]);
  const all = readAll(stdout);
  return { all, set: all.find(({ kind }) => kind === "StatefulSet") };
}

/** A stateful set whose pods are so, and their first container. */
const setOf = (pod: object, container: object) => ({
  spec: { template: { spec: { ...pod, containers: [container] } } },
});

describe("the manifests", () => {
  it("of Kubernetes name each file, and each has a kind and a name", () => {
    const read = (name: string) => readFileSync(join(base, name), "utf8");
    const { resources } = parse(read("kustomization.yaml")) as {
      readonly resources: readonly string[];
    };
    const others = new Set(["kustomization.yaml", "config.yaml"]);
    const files = readdirSync(base).filter((name) => !others.has(name));
    expect([...resources].sort()).toEqual(files.sort());
    const kinds = files
      .flatMap((name) => readAll(read(name)))
      .map(({ kind }) => kind);
    const some = "NetworkPolicy PodDisruptionBudget PrometheusRule";
    expect(kinds).toEqual(
      expect.arrayContaining([
        ...[...some.split(" "), "ServiceMonitor", "StatefulSet"],
      ]),
    );
  });

  it.skipIf(!canBuild)(
    "of Kubernetes are built by kustomize, for the image's user and nothing more",
    async () => {
      const { all, set } = await build("base");
      for (const { kind, metadata } of all)
        if (kind !== "Namespace") expect(metadata.namespace).toBe("provender");
      expect(set).toMatchObject(
        setOf(
          { securityContext: { runAsNonRoot: true, runAsUser: imageUser } },
          {
            securityContext: {
              readOnlyRootFilesystem: true,
              capabilities: { drop: ["ALL"] },
            },
            readinessProbe: { httpGet: { path: "/readyz" } },
          },
        ),
      );
    },
  );

  it.skipIf(!canBuild)(
    "of three replicas take a database's URL and a certificate from secrets",
    async () => {
      const { set } = await build("replicas");
      expect(set).toMatchObject({ spec: { replicas: 3 } });
      const container = {
        env: [{ name: "DATABASE_URL", valueFrom: { secretKeyRef: {} } }],
        securityContext: { readOnlyRootFilesystem: true },
      };
      expect(set).toMatchObject(setOf({}, container));
    },
  );

  it("have configurations that are good", async () => {
    const file = join(base, "config.yaml");
    const run = await runCommand(["config", "--config", file]);
    expect(run.status).toBe(0);
    expect(run.stderr).toContain(`${file}: good`);
    const { listen, database } = load(
      readFileSync(join(folder, "replicas", "config.yaml"), "utf8"),
      { DATABASE_URL: "postgres://host/name" },
    );
    expect(listen.tls).toMatchObject({ key: "/etc/provender-tls/tls.key" });
    expect(database.url?.source).toBe("env DATABASE_URL");
  });
});
