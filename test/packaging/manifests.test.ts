import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { imageUser } from "../../packaging/image.ts";
import { load } from "../config/written.ts";
import { runCommand } from "../running-command.ts";
import { has, run } from "./release.ts";

const folder = join(import.meta.dirname, "..", "..", "packaging", "kustomize");
const base = join(folder, "base");
const canBuild = await has("kustomize", "the manifests for Kubernetes");
/** Fields of every Kubernetes manifest. */
interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: {
    readonly template?: {
      readonly spec: {
        readonly securityContext: Readonly<Record<string, unknown>>;
        readonly containers: readonly {
          readonly image: string;
          readonly securityContext: Readonly<Record<string, unknown>>;
          readonly readinessProbe: unknown;
        }[];
      };
    };
  };
}

function readAll(text: string): readonly Manifest[] {
  return parseAllDocuments(text).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as Manifest;
  });
}

describe("the manifests", () => {
  it("of Kubernetes name each file, and each has a kind and a name", () => {
    const read = (name: string) => readFileSync(join(base, name), "utf8");
    const [top] = parseAllDocuments(read("kustomization.yaml"));
    const { resources } = top?.toJS() as {
      readonly resources: readonly string[];
    };
    const others = new Set(["kustomization.yaml", "config.yaml"]);
    const files = readdirSync(base).filter((name) => !others.has(name));
    expect([...resources].sort()).toEqual(files.sort());
    const kinds = files
      .flatMap((name) => readAll(read(name)))
      .map(({ kind }) => kind);
    for (const kind of [
      "NetworkPolicy",
      "PodDisruptionBudget",
      "PrometheusRule",
      "ServiceMonitor",
      "StatefulSet",
    ])
      expect(kinds).toContain(kind);
  });

  it.skipIf(!canBuild)(
    "of Kubernetes are built by kustomize, for the image's user and nothing more",
    async () => {
      const { stdout } = await run("kustomize", ["build", base]);
      const all = readAll(stdout);
      expect(
        all.every(
          ({ kind, metadata }) =>
            kind === "Namespace" || metadata.namespace === "provender",
        ),
      ).toBe(true);
      const set = all.find(({ kind }) => kind === "StatefulSet");
      const pod = set?.spec?.template?.spec;
      expect(pod?.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: imageUser,
      });
      expect(pod?.containers[0]).toMatchObject({
        securityContext: {
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        },
        readinessProbe: { httpGet: { path: "/readyz" } },
      });
    },
  );

  it.skipIf(!canBuild)(
    "of three replicas take a database's URL and a certificate from secrets",
    async () => {
      const built = await run("kustomize", ["build", join(folder, "replicas")]);
      const all = readAll(built.stdout);
      const set = all.find(({ kind }) => kind === "StatefulSet");
      expect(set?.spec).toMatchObject({ replicas: 3 });
      const [container] = set?.spec?.template?.spec.containers ?? [];
      expect(container).toMatchObject({
        env: [{ name: "DATABASE_URL", valueFrom: { secretKeyRef: {} } }],
        securityContext: { readOnlyRootFilesystem: true },
      });
    },
  );

  it("have configurations that are good", async () => {
    const file = join(base, "config.yaml");
    const run = await runCommand(["config", "--config", file]);
    expect(run.status).toBe(0);
    expect(run.stderr).toContain(`${file}: good\n`);
    const { listen, database } = load(
      readFileSync(join(folder, "replicas", "config.yaml"), "utf8"),
      { DATABASE_URL: "postgres://host/name" },
    );
    expect(listen.tls).toMatchObject({ key: "/etc/provender-tls/tls.key" });
    expect(database.url?.source).toBe("env DATABASE_URL");
  });
});
