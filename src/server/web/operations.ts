import type { Context } from "koa";
import { failure } from "../../errors/index.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { answerJson } from "../http/request-context.ts";

/** Readiness for `/readyz` and the service manager. */
export class Readiness {
  readonly #probe: () => Promise<void>;
  readonly #findProblem: () => string | undefined;
  #state: "starting" | "serving" | "stopping" = "starting";

  /**
   * Sets the checks. `probe` throws unless the store can be read and written;
   * `findProblem` returns the reason for serving less than configured.
   */
  constructor(
    probe: () => Promise<void>,
    findProblem: () => string | undefined = () => undefined,
  ) {
    this.#probe = probe;
    this.#findProblem = findProblem;
  }

  /** Reason for serving less than configured; undefined while there is none. */
  get problem(): string | undefined {
    return this.#findProblem();
  }

  become(state: "serving" | "stopping"): void {
    this.#state = state;
  }

  async check(): Promise<void> {
    if (this.#state !== "serving") throw failure("not-ready", this.#state);
    await this.#probe().catch((error: unknown) => {
      throw failure(
        "not-ready",
        `its store cannot be used: ${(error as Error).message}`,
      );
    });
  }
}

/** `/healthz`: the process answers. */
export function answerHealth(ctx: Context, { problem }: Readiness): void {
  answerJson(ctx, { status: "ok", degraded: problem });
}

/** `/readyz`: requests can be served now. */
export async function answerReadiness(
  ctx: Context,
  readiness: Readiness,
): Promise<void> {
  await readiness.check();
  answerJson(ctx, { status: "ready", degraded: readiness.problem });
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
