import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import {
  type ILambdaDeploymentConfig,
  LambdaApplication,
  LambdaDeploymentConfig,
  LambdaDeploymentGroup,
} from 'aws-cdk-lib/aws-codedeploy';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Alias } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';

/** Minutes for which a tenth of the calls go to the new version, before all do: the choices that CodeDeploy offers. */
const CANARIES: Readonly<Record<number, ILambdaDeploymentConfig>> = {
  5: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
  10: LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES,
  15: LambdaDeploymentConfig.CANARY_10PERCENT_15MINUTES,
  30: LambdaDeploymentConfig.CANARY_10PERCENT_30MINUTES,
};

/** The values of the setting `shiftMinutes`; with 0 all calls go to new versions at once. */
export const SHIFT_MINUTES: readonly number[] = [0, ...Object.keys(CANARIES).map(Number)];

/**
 * Versions published at a time. Lambda takes 15 calls a second that change or describe functions, of an account (Lambda
 * developer guide, "Lambda quotas"), and a shift of many functions that begin at once has failed by it. One that begins
 * after another is published begins some seconds later.
 */
const PUBLISHED_AT_ONCE = 5;

export interface TrafficShiftProps {
  /** One of `SHIFT_MINUTES`, except 0. */
  readonly minutes: number;
  readonly aliases: readonly Alias[];
  /** Each of them ends the shift, as soon as it rises: all calls go to the versions before. */
  readonly alarms: readonly Alarm[];
}

/**
 * Moves the traffic of aliases to their new versions gradually, with CodeDeploy: CloudFormation starts a deployment for each
 * alias whose version changes and waits for it; where it fails, the update of the stack fails and is rolled back.
 */
export class TrafficShift extends Construct {
  constructor(scope: Construct, id: string, { minutes, aliases, alarms }: TrafficShiftProps) {
    super(scope, id);
    const deploymentConfig = CANARIES[minutes];
    if (deploymentConfig === undefined) throw new RangeError(`no traffic shift takes ${minutes} minutes`);
    const application = new LambdaApplication(this, 'Application');
    const role = new Role(this, 'Role', {
      description: 'Shifts traffic between versions of functions',
      assumedBy: new ServicePrincipal('codedeploy.amazonaws.com'),
      managedPolicies: [
        ManagedPolicy.fromAwsManagedPolicyName('service-role/AWSCodeDeployRoleForLambdaLimited'),
      ],
    });
    for (const [at, alias] of aliases.entries()) {
      new LambdaDeploymentGroup(this, alias.node.scope!.node.id, {
        application,
        role,
        alias,
        deploymentConfig,
        alarms: [...alarms],
        // Stopped by hand without it, an alias keeps two versions, and the next deployment fails (CodeDeploy user guide,
        // "Troubleshoot AWS Lambda deployment issues").
        autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
      });
      const before = aliases[at - PUBLISHED_AT_ONCE];
      if (before !== undefined) alias.version.node.addDependency(before.version);
    }
  }
}
