import { type Line, logTo } from '../../lib/telemetry/log.ts';

/** Everything that this process writes down from now on, `info` too. */
export class LogLines {
  readonly all: Line[] = [];

  static watch(): LogLines {
    const lines = new LogLines();
    process.env['LOG_LEVEL'] = 'info';
    logTo((line) => void lines.all.push(line));
    return lines;
  }

  /** The lines that one request's id finds. */
  of(requestId: string): Line[] {
    return this.all.filter((line) => line.requestId === requestId);
  }

  /** Waits until lines of that id are there that `enough` is content with. */
  async until(requestId: string, enough: (lines: readonly Line[]) => boolean): Promise<Line[]> {
    for (const deadline = Date.now() + 60_000; ; ) {
      const lines = this.of(requestId);
      if (enough(lines)) return lines;
      if (Date.now() > deadline) throw new Error(`${requestId}: ${JSON.stringify(lines, null, 1)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  get text(): string {
    return this.all.map((line) => JSON.stringify(line)).join('\n');
  }
}
