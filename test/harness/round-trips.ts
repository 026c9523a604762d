import { setTimeout as sleep } from 'node:timers/promises';
import type { Host } from '../../local/host.ts';
import { type AwsCall, bytesOf, interpose } from './aws-calls.ts';

/** What one piece of work asked of AWS. */
export interface Trips {
  /** One after the other; calls made before any of them was answered are one trip: `D`, `S`, or `D+S`. */
  readonly trips: readonly string[];
  /** Every call, by trip. */
  readonly calls: readonly (readonly AwsCall[])[];
  /** Bytes of all answers, by service. */
  readonly bytes: Readonly<Record<AwsCall['service'], number>>;
}

/**
 * Nothing more comes when nothing has come in so many looks, and turns of the event loop between them: time alone says nothing
 * on a machine that let the process wait.
 */
const QUIET_LOOKS = 4;
/** Milliseconds between two looks. */
const LOOK_MS = 2;

/**
 * Counts round trips by making the service take them in step: calls wait until the service has nothing else to do,
 * then all of them are answered, and what they lead to is the next trip. So a trip is one on whatever machine.
 */
export class RoundTrips {
  #trips: AwsCall[][] = [];
  #bytes = { D: 0, S: 0, Q: 0 };
  #waiting: { call: AwsCall; go: () => void }[] = [];
  #running = 0;
  /** How many calls have come and gone. */
  #moves = 0;
  #counting = false;
  #stepping = false;

  /** @param beside whether a call is one that no answer waits for: it is left out, because its trip is chance */
  static of(host: Host, beside: (call: AwsCall) => boolean = () => false): RoundTrips {
    const trips = new RoundTrips();
    interpose(host, async (call, send) => {
      if (!trips.#counting || beside(call)) return send();
      await trips.#turn(call);
      trips.#running++;
      try {
        const answer = await send();
        trips.#bytes[call.service] += bytesOf(answer);
        return answer;
      } finally {
        trips.#running--;
        trips.#moves++;
      }
    });
    return trips;
  }

  async of<T>(work: () => Promise<T>): Promise<Trips & { readonly value: T }> {
    this.#trips = [];
    this.#bytes = { D: 0, S: 0, Q: 0 };
    this.#counting = true;
    try {
      const value = await work();
      const trips = this.#trips.map((calls) =>
        [...new Set(calls.map(({ service }) => service))].sort().join('+'),
      );
      return { trips, calls: this.#trips, bytes: this.#bytes, value };
    } finally {
      this.#counting = false;
    }
  }

  #turn(call: AwsCall): Promise<void> {
    return new Promise((go) => {
      this.#waiting.push({ call, go });
      this.#moves++;
      if (!this.#stepping) void this.#step();
    });
  }

  async #step(): Promise<void> {
    this.#stepping = true;
    while (this.#waiting.length > 0) {
      await this.#quiet();
      const trip = this.#waiting;
      this.#waiting = [];
      this.#trips.push(trip.map(({ call }) => call));
      for (const { go } of trip) go();
      // The calls begin before it is asked whether any is running.
      await sleep(0);
    }
    this.#stepping = false;
  }

  async #quiet(): Promise<void> {
    for (let looks = 0, seen = this.#moves; looks < QUIET_LOOKS; ) {
      await sleep(LOOK_MS);
      looks = this.#running === 0 && this.#moves === seen ? looks + 1 : 0;
      seen = this.#moves;
    }
  }
}
