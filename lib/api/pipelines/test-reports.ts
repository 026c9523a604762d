import type { ReportedCase, TestSuite } from '../../domain/pipelines/test-reports.ts';

/** Bytes of the cases of an answer, as the gateway counts them: escaped twice. */
const MAX_ANSWER = 4 * 1024 ** 2;
const TOO_LONG = 'The cases of the pipeline are too many for one answer';

/** The cases of suites, with their output, as far as they fit: a suite that does not fit is empty, and says so. */
export function presentTestReport(suites: readonly TestSuite[], projectUrl: string) {
  let left = MAX_ANSWER;
  const shown = suites.map((suite) => {
    const cases: ReturnType<typeof presentCase>[] = [];
    for (const each of suite.cases) {
      const presented = presentCase(each, projectUrl);
      left -= Buffer.byteLength(JSON.stringify(JSON.stringify(presented)));
      if (left < 0) return { ...suite, error: TOO_LONG, time: 0, cases: [], presented: [] };
      cases.push(presented);
    }
    return { ...suite, presented: cases };
  });
  return {
    ...counts(shown),
    test_suites: shown.map((suite) => ({
      name: suite.name,
      ...counts([suite]),
      suite_error: suite.error,
      test_cases: suite.presented,
    })),
  };
}

function presentCase(each: ReportedCase, projectUrl: string) {
  const attachment = each.attachment?.split('/').map(encodeURIComponent).join('/');
  return {
    status: each.status,
    name: each.name ?? 'No name',
    classname: each.classname,
    file: each.file,
    execution_time: each.time,
    system_output: each.output,
    stack_trace: null,
    recent_failures: null,
    ...(attachment === undefined
      ? {}
      : { attachment_url: `${projectUrl}/-/jobs/${each.jobId}/artifacts/file/${attachment}` }),
  };
}

export function presentSummary(suites: readonly TestSuite[]) {
  const all = counts(suites);
  return {
    total: {
      time: all.total_time,
      count: all.total_count,
      success: all.success_count,
      failed: all.failed_count,
      skipped: all.skipped_count,
      error: all.error_count,
      suite_error: suites.find(({ error }) => error !== null)?.error ?? null,
    },
    test_suites: suites.map((suite) => ({
      name: suite.name,
      ...counts([suite]),
      build_ids: [...suite.jobIds],
      suite_error: suite.error,
    })),
  };
}

function counts(suites: readonly TestSuite[]) {
  const statuses = suites.flatMap(({ cases }) => cases.map(({ status }) => status));
  const count = (status: ReportedCase['status']) => statuses.filter((each) => each === status).length;
  return {
    total_time: suites.reduce((sum, { time }) => sum + time, 0),
    total_count: statuses.length,
    success_count: count('success'),
    failed_count: count('failed'),
    skipped_count: count('skipped'),
    error_count: count('error'),
  };
}
