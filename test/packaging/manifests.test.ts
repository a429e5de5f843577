import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { imageUser } from "../../packaging/image.ts";
import { runCommand } from "../running-command.ts";
import { has, run } from "./release.ts";

const folder = join(import.meta.dirname, "..", "..", "packaging");
const base = join(folder, "kustomize", "base");
const canBuild = await has("kustomize", "the manifests for Kubernetes");

/** What every manifest for Kubernetes has. */
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
  it.each(["compose", join("kustomize", "base")])(
    "of %s have a configuration that is good",
    async (name) => {
      const file = join(folder, name, "config.yaml");
      const run = await runCommand(["config", "check", "--config", file]);
      expect(run).toMatchObject({ status: 0, stderr: "" });
    },
  );

  it("of compose name their image, its store, its probe and no more rights", () => {
    const text = readFileSync(join(folder, "compose", "compose.yaml"), "utf8");
    const [document] = parseAllDocuments(text);
    expect(document?.errors).toEqual([]);
    expect(document?.toJS()).toMatchObject({
      services: {
        provender: {
          read_only: true,
          cap_drop: ["ALL"],
          volumes: expect.arrayContaining([
            "store:/var/lib/provender",
          ]) as unknown,
          healthcheck: {
            test: expect.arrayContaining([
              "/usr/lib/provender/node",
            ]) as unknown,
          },
        },
      },
      volumes: { store: {} },
    });
  });

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
});
