/**
 * Approximate list prices of us-east-1 in dollars, without the free tier; the linked pages have the current ones.
 */
export const PRICE = {
  /**
   * https://aws.amazon.com/cloudwatch/pricing: a standard-resolution alarm, for each of its metrics, and a GB of ingested logs,
   * of the class Standard and of Infrequent Access.
   */
  alarm: 0.1,
  logsPerGb: 0.5,
  rareLogsPerGb: 0.25,
  /** The same page: a custom metric reported in every hour of a month; prorated if in fewer. */
  metric: 0.3,
  /** The same page: three dashboards per account are free if none has more metrics than this. */
  dashboard: 3,
  dashboardFreeMetrics: 50,
  /** https://aws.amazon.com/sqs/pricing: a million requests to a standard queue. */
  queueRequests: 0.4e-6,
  /** https://aws.amazon.com/lambda/pricing: an invocation, and a GB-second on arm64. */
  invocation: 0.2e-6,
  gbSecond: 0.0000133334,
  /** https://aws.amazon.com/api-gateway/pricing: a request to a REST API. */
  gatewayRequest: 3.5e-6,
  /** https://aws.amazon.com/waf/pricing: a web ACL and a rule, a month; a request that they look at. */
  webAcl: 5,
  webAclRule: 1,
  webAclRequest: 0.6e-6,
  /** https://aws.amazon.com/dynamodb/pricing/on-demand: a unit read and written; a GB stored, and one kept for recovery. */
  readUnit: 0.125e-6,
  writeUnit: 0.625e-6,
  tablePerGb: 0.25,
  recoveryPerGb: 0.2,
  /** https://aws.amazon.com/s3/pricing: a GB stored; a request that writes or lists, and one that reads. */
  objectsPerGb: 0.023,
  objectWrite: 5e-6,
  objectRead: 0.4e-6,
  /** https://aws.amazon.com/ec2/pricing/on-demand: a GB to the internet. */
  outPerGb: 0.09,
  /** https://aws.amazon.com/ses/pricing: a mail. */
  mail: 0.1e-3,
} as const;
