/** Settings of runners. */
export const runners = {
  /** Kinds of places, beside the instance, that runners can be registered for */
  valid_runner_registrars: ['project', 'group'] as readonly string[],
};
