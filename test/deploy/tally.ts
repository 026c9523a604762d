/** Counts steps of a story and prints each as it ends. A step that fails does not stop those after it. */
export class Tally {
  passed = 0;
  failed = 0;

  async step(name: string, body: () => Promise<void>): Promise<void> {
    const start = performance.now();
    try {
      await body();
      this.passed += 1;
      console.log(`ok    ${name} (${Math.round(performance.now() - start)} ms)`);
    } catch (error) {
      this.failed += 1;
      console.log(`FAIL  ${name}\n${indented(error instanceof Error ? error.message : String(error))}`);
    }
  }
}

const indented = (text: string) => text.replace(/^/gm, '      ');
