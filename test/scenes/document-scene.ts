import { afterEach, beforeAll, expect } from "vitest";
import { createAuthority, type Authority } from "../fakes/authority.ts";
import {
  startRegistry,
  type PublishOptions,
  type Registry,
} from "../fakes/registry.ts";
import type { Release } from "../fakes/release.ts";
import { originsOf } from "../origins.ts";
import { startMirror, type RunningMirror } from "../running-mirror.ts";

export const terraform = "registry.terraform.io";
/** Here signatures are checked when they are published; at the other they are required. */
export const opentofu = "registry.opentofu.org";

/** A mirror of two origins that one registry stands for; it is there during the tests of a file. */
export class DocumentScene {
  authority!: Authority;
  registry!: Registry;
  mirror!: RunningMirror;
  #names = 0;

  constructor() {
    beforeAll(() => this.#start());
    afterEach(() => {
      this.registry.heal();
      this.registry.requests.clear();
      this.registry.latencyMs = undefined;
    });
  }

  async #start(): Promise<void> {
    this.authority = await createAuthority();
    this.registry = await startRegistry({ authority: this.authority });
    const { authority, registry } = this;
    const required = originsOf(authority, registry);
    const published = originsOf(
      authority,
      registry,
      { signatures: "when-published" },
      opentofu,
    );
    this.mirror = await startMirror({
      config: { origins: { ...required.origins, ...published.origins } },
    });
  }

  /** Version 1.0.0 of a provider of its own. */
  publish(options: Partial<PublishOptions> = {}): Promise<Release> {
    const type = `doc${(this.#names += 1)}`;
    return this.registry.publish({ type, version: "1.0.0", ...options });
  }

  ask({ type }: Release, hostname = terraform) {
    return this.mirror.get(`/providers/${hostname}/acme/${type}/1.0.0.json`);
  }

  async archivesOf(release: Release, hostname = terraform) {
    const answer = await this.ask(release, hostname);
    expect(answer.status).toBe(200);
    const { archives } = answer.json() as {
      archives: Record<string, { url: string; hashes: string[] }>;
    };
    return archives;
  }
}
