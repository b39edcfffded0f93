//! What runs in the cloud.

use super::{Category, Check, Rule, RuleInput, Tier};
use crate::{file_access::is_remote_path, script};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "cloud-destroy-code",
        category: Category::Cloud,
        tier: Tier::Block,
        finds: "deletes or stops something in the cloud in a one-liner",
        instead: "Look with read-only calls and leave changes to the user.",
        check: Check::Command(cloud_destroy_code),
        matches: &[
            "python3 -c \"import boto3; boto3.client('ec2').terminate_instances(InstanceIds=['i-1'])\"",
            "python3 -c \"import boto3; boto3.resource('s3').Bucket('x').objects.all().delete()\"",
        ],
        passes: &[
            "python3 -c \"import boto3; print(boto3.__version__)\"",
            "python3 -c \"import boto3; print(boto3.client('s3').list_buckets())\"",
        ],
    },
    Rule {
        id: "cloud-destroy",
        category: Category::Cloud,
        tier: Tier::Block,
        finds: "deletes or stops something in the cloud or a cluster",
        instead: "Look with read-only commands and leave changes to the user.",
        check: Check::Command(cloud_destroy),
        matches: &[
            "terraform destroy",
            "kubectl delete ns prod",
            "aws s3 rb s3://x --force",
            "gcloud projects delete x",
            "az group delete -n x",
            "helm uninstall x",
            "pulumi destroy",
            "fly apps destroy x",
            "gh repo delete x",
            "kubectl drain n1",
            "aws ec2 terminate-instances --instance-ids i-1",
            "gsutil rm -r gs://x",
            "doctl compute droplet delete 1",
            "heroku apps:destroy x",
        ],
        passes: &[
            "kubectl get pods",
            "aws s3 ls",
            "terraform plan",
            "gcloud config list",
            "kubectl delete pod x --dry-run=client",
            "helm list",
        ],
    },
    Rule {
        id: "cloud-change",
        category: Category::Cloud,
        tier: Tier::Block,
        finds: "deploys to or changes something in the cloud or a cluster",
        instead: "Prepare the change, show it (`terraform plan`, `kubectl diff`, `--dry-run`), and leave applying it to the user.",
        check: Check::Command(cloud_change),
        matches: &[
            "terraform apply -auto-approve",
            "kubectl apply -f x.yaml",
            "vercel --prod",
            "firebase deploy",
            "helm upgrade x y",
            "aws s3 sync . s3://x",
            "serverless deploy",
            "kubectl scale deploy/x --replicas=0",
            "aws iam attach-user-policy --user-name x",
            "ansible-playbook site.yml",
            "fly deploy",
            "wrangler deploy",
        ],
        passes: &[
            "terraform validate",
            "kubectl apply --dry-run=client -f x",
            "helm template x",
            "npm run deploy:dry-run",
            "aws s3 cp s3://x/a ./a",
            "ansible-playbook --check site.yml",
            "kubectl diff -f x",
            "vercel --version",
        ],
    },
];

/// Commands that delete or stop something.
const DESTROYS: &[&str] = &[
    "terraform|tofu|terragrunt|pulumi|cdk|sst|serverless|sls|sam|copilot|eksctl|kops|cdktf|stack destroy|remove|delete|down|nuke",
    "terraform|tofu|terragrunt state rm|push|mv",
    "terraform|tofu workspace delete",
    "terraform|tofu taint|force-unlock|untaint",
    "terragrunt run-all destroy",
    "pulumi stack rm",
    "pulumi state delete",
    "eksctl delete *",
    "kubectl|oc|k delete|drain|cordon|evict|uncordon|taint",
    "helm uninstall|delete|rollback",
    "flux delete|uninstall|suspend",
    "argocd app delete",
    "aws * delete-*|terminate-*|remove-*|deregister-*|purge-*|destroy-*|stop-*|disable-*|reboot-*|revoke-*|detach-*|batch-delete-*|cancel-*|schedule-key-deletion|release-address|reset-*|abort-*",
    "aws s3 rb|rm|mv",
    "aws nuke",
    "aws-nuke",
    "gcloud * delete|stop|reset|remove-*|disable|destroy",
    "gcloud * * delete|stop|reset|remove-*|disable|suspend|destroy",
    "gcloud * * * delete|stop|reset|remove-*|disable|destroy",
    "gcloud projects delete|undelete",
    "gcloud alpha|beta * * delete",
    "gsutil rm|rb|mv",
    "gcloud storage rm|mv",
    "bq rm",
    "az * delete|purge|stop|deallocate|restart",
    "az * * delete|purge|stop|remove|deallocate|delete-batch",
    "az * * * delete|purge|remove",
    "doctl * delete|destroy|rm",
    "doctl * * delete|destroy|rm",
    "hcloud * delete|poweroff|reset|shutdown",
    "linode-cli * delete|rm|shutdown",
    "oci * * delete|terminate",
    "oci * * * delete|terminate",
    "ibmcloud * delete|rm|*-delete|*-rm",
    "vultr-cli * delete",
    "scw * * delete|terminate",
    "exo compute * delete",
    "openstack * delete",
    "nova delete",
    "fly|flyctl apps|machine|machines|volumes|volume|postgres destroy|delete|stop|remove|kill",
    "fly|flyctl destroy|suspend",
    "heroku apps:destroy|destroy|addons:destroy|ps:stop|maintenance:on|domains:remove|config:unset|releases:rollback|pipelines:destroy",
    "vercel|now rm|remove|rollback",
    "vercel env|domains|alias|secrets|dns|project|projects rm|remove",
    "netlify sites:delete|env:unset",
    "railway down|delete",
    "render services delete",
    "wrangler delete|rollback",
    "wrangler * delete|rm|remove|purge",
    "wrangler * * delete|rm",
    "firebase projects:delete|database:remove|firestore:delete|hosting:disable|functions:delete|apps:delete|auth:*",
    "supabase projects|functions|branches|secrets delete|unset",
    "gh repo|release|secret|variable|run|cache|label|workflow|codespace delete|archive|disable|delete-asset|remove",
    "gh issue|pr delete|close",
    "glab repo|project delete|archive",
    "rclone delete|purge|rmdir|rmdirs|deletefile|cleanup",
    "s3cmd del|rb|rm",
    "mc rm|rb",
    "consul kv|services delete|deregister",
    "nomad job|node|system stop|purge|drain|gc",
    "vault delete|kv|secrets|auth|policy|lease delete|destroy|disable|revoke|metadata",
    "snyk|sentry-cli * delete",
    "ovhcloud * delete",
    "rancher * delete",
    "k3s-uninstall.sh",
    "kubeadm reset",
    "velero * delete",
    "cf delete*|stop",
    "eb terminate",
    "amplify delete",
    "confluent * * delete",
    "databricks * delete",
    "databricks fs rm",
    "stripe * delete",
    "newrelic * delete",
    "gandi * delete",
    "flarectl * d|delete",
    "etcdctl del",
];

fn cloud_destroy_code(input: &RuleInput<'_>) -> Option<String> {
    let code = input.command.code.as_deref()?;
    let libraries = ["boto3", "google.cloud", "azure.", "aws-sdk", "@google-cloud", "@azure", "kubernetes"];
    if !libraries.iter().any(|library| code.contains(library)) {
        return None;
    }
    let verbs =
        ["delete", "terminate", "destroy", "purge", "remove", "deregister", "stop_", "Delete", "Terminate"];
    let calls = script::function_calls(code).unwrap_or_default();
    input.found_if(calls.iter().any(|call| verbs.iter().any(|verb| call.name.starts_with(verb))))
}

fn cloud_destroy(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    if command.is_dry_run() {
        return None;
    }
    let found = command.runs(DESTROYS);
    let api = command.runs(&["gh|glab api", "az rest", "kubectl|oc --raw"])
        && command.values("Xm", &["method"]).iter().any(|method| ["DELETE", "delete"].contains(method));
    let reads = command.runs(&["vault kv get|list|put", "aws s3 mv"]) && !command.runs(&["aws s3 mv s3:*"]);
    let unknown = command.is(&["kubectl", "oc"])
        && command.has_word(&["delete"])
        && command.wrappers.iter().any(|wrapper| wrapper == "xargs");
    let approve = command.is(&["terraform", "tofu", "terragrunt"])
        && command.has_word(&["-destroy", "--destroy"])
        && command.words().first() != Some(&"plan");
    input.found_if((found && !reads) || api || unknown || approve)
}

/// Commands that deploy or change something.
const CHANGES: &[&str] = &[
    "terraform|tofu|terragrunt apply|import|refresh",
    "terragrunt run-all apply",
    "pulumi up|update|refresh|import",
    "cdk|cdktf|sst|serverless|sls|sam|copilot|amplify|eb|zappa|chalice|now|shuttle|encore deploy|publish|push",
    "kubectl|oc apply|create|replace|patch|edit|scale|rollout|set|label|annotate|expose|autoscale|run|cp|attach|port-forward|proxy|debug",
    "helm install|upgrade",
    "helmfile apply|sync|destroy",
    "kustomize deploy",
    "skaffold run|deploy|delete",
    "argocd app sync|set|create",
    "flux reconcile|create|resume",
    "aws * create-*|put-*|update-*|modify-*|attach-*|run-instances|start-*|authorize-*|associate-*|register-*|restore-*|import-*|enable-*|set-*|add-*|tag-*|invoke|publish|send-*|execute-*|copy-*|change-*",
    "aws cloudformation deploy",
    "aws s3 sync|mb|website",
    "gcloud * deploy|create|update|add-*|set-*|enable|patch|import|submit",
    "gcloud * * create|update|deploy|add-*|set-*|patch|start|resize|import|ssh|scp",
    "gcloud * * * create|update|deploy|add-*|set-*|patch",
    "gcloud app|run|functions deploy|browse",
    "gcloud builds submit",
    "bq load|mk|update",
    "az * create|update|start|deploy|up|set",
    "az * * create|update|deploy|set|start|upload|upload-batch|add",
    "az webapp|functionapp|containerapp up|deploy",
    "doctl * * create|update|deploy",
    "doctl apps create|update",
    "hcloud * create",
    "fly|flyctl deploy|launch|scale|secrets|restart|ssh|proxy",
    "fly|flyctl apps|machine|volumes|postgres create|update|restart|clone",
    "heroku config:set|ps:scale|ps:restart|restart|create|container:push|container:release|run|maintenance:off|addons:create|domains:add|buildpacks:set",
    "netlify deploy|env:set|sites:create",
    "railway up|deploy|run|variables|link",
    "wrangler deploy|publish",
    "wrangler pages|kv|r2|d1|secret deploy|put|create|publish|key|bulk|object|execute|migrations",
    "firebase deploy|hosting:*|functions:config:set|database:set|database:update|firestore:import|apphosting:*",
    "supabase db|functions|secrets|link push|deploy|set",
    "surge *",
    "gh-pages *",
    "gh workflow|secret|variable|run run|set|rerun|enable|cancel",
    "gh pr merge",
    "ansible-playbook *",
    "ansible *",
    "chef-client",
    "puppet apply|agent",
    "salt *",
    "salt-call *",
    "cap * deploy",
    "fab *",
    "kamal deploy|setup|remove|redeploy|rollback",
    "dokku *",
    "nomad job run|plan",
    "consul kv put",
    "vault write|kv",
    "packer build",
    "crossplane *",
    "oc new-app|adm|login|project|process",
    "eksctl create|scale|upgrade|utils",
    "kubeadm init|join|upgrade",
    "rclone mount",
    "gsutil cp|rsync|iam|acl|mb|setmeta",
    "gcloud storage cp|rsync|buckets",
    "s3cmd put|sync|setacl|mb",
    "mc cp|mirror|mb|policy",
    "vercel deploy|promote|alias|env|domains|link",
    "confluent * create|update",
];

/// Commands among those that only look.
const READS_ONLY: &[&str] = &[
    "kubectl|oc rollout status|history",
    "kubectl|oc create --dry-run*",
    "vault kv get|list",
    "nomad job plan",
    "gcloud * list|describe",
    "aws * start-query-execution",
    "oc adm top",
    "vercel env|domains|alias|project ls|list|inspect",
    "gsutil iam|acl get",
    "wrangler kv|r2|d1|secret|pages list|get|info",
    "wrangler d1|kv|r2|pages * list|get|info",
    "gh variable|secret|workflow|run list|view|get|watch|download",
    "railway variables",
    "ansible --version",
    "kubectl|oc auth can-i",
    "railway link|status|logs",
    "gcloud storage buckets list|describe",
    "supabase link",
    "fly|flyctl secrets list",
    "fly|flyctl ssh issue",
    "kubectl port-forward",
];

fn cloud_change(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    if command.is_dry_run()
        || command.has("", &["check", "noop", "preview"]) && command.is(&["ansible-playbook", "puppet"])
    {
        return None;
    }
    let found = command.runs(CHANGES);
    let looks = command.runs(READS_ONLY);
    let has_get = command.is(&["aws"])
        && command.words().get(1).is_some_and(|verb| {
            verb.starts_with("get-") || verb.starts_with("describe-") || verb.starts_with("list-")
        });
    let uploads = command.is(&["aws"])
        && command.words().first() == Some(&"s3")
        && command.words().get(1) == Some(&"cp")
        && command.words().last().is_some_and(|target| target.starts_with("s3://"))
        || command.is(&["gsutil", "gcloud", "s3cmd", "mc"])
            && command.words().contains(&"cp")
            && command.words().last().is_some_and(|target| target.contains("://") || is_remote_path(target));
    let downloads = (command.is(&["gsutil"]) || command.runs(&["gcloud storage *"]))
        && command.words().iter().any(|word| ["cp", "rsync"].contains(word))
        && !command.words().last().is_some_and(|target| target.contains("://"));
    let syncs_down = command.runs(&["aws s3 sync"])
        && !command.words().last().is_some_and(|target| target.starts_with("s3://"));
    let vercel = command.is(&["vercel", "now"])
        && (command.has("", &["prod", "production"])
            || command.words().is_empty()
                && !command.has_word(&["--version", "-v", "--help", "-h", "whoami"]));
    let listens = command.is(&["ansible-playbook", "ansible"])
        && command.has("C", &["check", "list-hosts", "list-tasks", "syntax-check"]);
    let inventory = command.runs(&["ansible-playbook|ansible *"]) && listens;
    input.found_if(
        (found && !looks && !has_get && !downloads && !syncs_down && !inventory) || uploads || vercel,
    )
}
