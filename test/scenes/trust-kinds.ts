import { expect } from "vitest";
import type { Signer } from "../fakes/signing.ts";
import { signer, type TrustScene } from "./trust-scene.ts";

/**
 * Records of trust by kind. Each function creates one and returns its key;
 * after its loss the release is refused.
 */
export const trustKinds: Readonly<
  Record<
    string,
    (scene: TrustScene, known: Signer, namespace: string) => Promise<string>
  >
> = {
  "what was decided": async (scene, known, namespace) => {
    await scene.contact(namespace, known);
    const name = `registry.terraform.io/${namespace}`;
    const key = ["--key", known.fingerprint];
    await scene.trust("revoke", ...key, "--for", name);
    return `trust/namespaces/${name}`;
  },
  "the first contact": async (scene, known, namespace) => {
    await scene.contact(namespace, known);
    await scene.publish(namespace, "1.0.1", await signer("stranger"));
    expect((await scene.ask(namespace).version("1.0.1")).status).toBe(451);
    return `trust/contacts/registry.terraform.io/${namespace}/thing`;
  },
  "pinned checksums": async (scene, known, namespace) => {
    await scene.contact(namespace, known);
    await scene.publish(namespace, "1.0.0", known, { seed: "re-created" });
    return `providers/registry.terraform.io/${namespace}/thing/releases/1.0.0`;
  },
  "the first list of versions": async (scene, known, namespace) => {
    await scene.contact(namespace, known);
    await scene.publish(namespace, "1.0.1", await signer("stranger"));
    expect((await scene.ask(namespace).version("1.0.1")).status).toBe(451);
    return `providers/registry.terraform.io/${namespace}/thing/versions`;
  },
};

/**
 * Returns the version that a namespace must never show while the record of that
 * kind is unknown.
 */
export function forbiddenOf(kind: string): string {
  return kind === "the first contact" || kind === "the first list of versions"
    ? "1.0.1"
    : "1.0.0";
}
