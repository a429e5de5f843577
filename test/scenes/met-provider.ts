import { expect } from "vitest";
import type { Signer } from "../fakes/signing.ts";
import {
  freshness,
  MirrorScene,
  type SceneSettings,
} from "./mirror-in-process.ts";

/** A provider of which 1.0.0 was met and served; 2.0.0 came later, and no process looked at it. */
export async function prepareUnasked(
  K: Signer,
  settings: Partial<SceneSettings> = {},
) {
  const scene = await MirrorScene.prepare(settings);
  const { registry, clock } = scene;
  registry.offer("1.0.0", { content: "linux=a", by: K });
  expect(await scene.start().version("1.0.0")).toBe("linux=a");
  registry.offer("2.0.0", { content: "linux=b", by: K });
  clock.pass(freshness);
  return { scene, registry, clock };
}

/** The same where 2.0.0 is listed, with a process that knows it. */
export async function prepareMet(
  K: Signer,
  settings: Partial<SceneSettings> = {},
) {
  const prepared = await prepareUnasked(K, settings);
  const mirror = prepared.scene.start();
  expect(await mirror.index()).toBe("2.0.0 1.0.0");
  return { ...prepared, mirror };
}
