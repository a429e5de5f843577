import type { Context } from "koa";
import { failure } from "../../errors/index.ts";
import type { Metrics } from "../../telemetry/metrics.ts";

/** Readiness for `/readyz` and the service manager. */
export class Readiness {
  state: "starting" | "serving" | "stopping" = "starting";
  readonly #probe: () => Promise<void>;
  /** Returns the reason for serving less than configured; undefined while there is none. */
  readonly findProblem: () => string | undefined;

  /** `probe` throws unless the store can be read and written. */
  constructor(
    probe: () => Promise<void>,
    findProblem: () => string | undefined,
  ) {
    this.#probe = probe;
    this.findProblem = findProblem;
  }

  async check(): Promise<void> {
    if (this.state !== "serving") throw failure("not-ready", this.state);
    await this.#probe().catch((error: unknown) => {
      const reason = `its store cannot be used: ${(error as Error).message}`;
      throw failure("not-ready", reason);
    });
  }
}

/** `/metrics`, in the text format of Prometheus. */
export async function answerMetrics(
  ctx: Context,
  metrics: Metrics,
): Promise<void> {
  const { type, text } = await metrics.render();
  ctx.status = 200;
  ctx.set("Cache-Control", "no-store");
  ctx.body = text;
  ctx.res.setHeader("Content-Type", type);
}
