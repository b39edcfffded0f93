//! Data in databases.

mod throw_away;

use super::{Category, Check, Patterns, RULE, Rule, RuleInput};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "sql-destroys",
        category: Category::Databases,
        finds: "drops, truncates, or deletes and updates everything in a database",
        instead: "Write a migration and leave running it to the user; delete single rows with `WHERE`.",
        patterns: Patterns::new(&["psql ~*program?'*"]),
        check: Check::Command(sql_destroys),
        matches: &[
            "node -e \"require('mongodb').MongoClient.connect('mongodb://db/app').then(c => c.db().dropDatabase())\"",
            "mysql -e 'DROP DATABASE app_test; DROP DATABASE app'",
            "psql -c 'DROP TABLE x'",
            "mysql -e 'truncate x'",
            "sqlite3 a.db 'DELETE FROM x;'",
            "python3 -c \"from app import db; db.drop_all()\"",
            "psql <<< 'drop schema public cascade'",
            "echo 'DROP DATABASE x' | psql",
            "mongosh --eval 'db.dropDatabase()'",
            "psql -c 'UPDATE x SET a=1'",
        ],
        passes: &[
            "mysql -e 'DROP DATABASE IF EXISTS app_test; CREATE DATABASE app_test'",
            "psql -c 'SELECT 1'",
            "sqlite3 a.db .tables",
            "psql -c 'DELETE FROM x WHERE id=1'",
            "cat drop_table.sql",
            "psql -c 'CREATE TABLE x (a int)'",
            "psql -d app_test -c 'TRUNCATE users'",
            "psql 'host=localhost dbname=app_test' -c 'TRUNCATE users'",
            "sqlite3 :memory: 'DROP TABLE x'",
            "python3 -c \"import sqlite3; sqlite3.connect(':memory:').execute('drop table t')\"",
        ],
        ..RULE
    },
    Rule {
        id: "database-destroys",
        category: Category::Databases,
        finds: "drops, resets or overwrites a database with a tool",
        instead: "Use a throw-away database, and leave resetting others to the user.",
        patterns: Patterns::new(&[
            "curl ~*_delete_by_query*",
            "flask db downgrade",
            "sqitch revert",
            "rails runner|r ~*delete_all*|*destroy_all*|*truncate*|*drop_table*|*.delete*",
            "python ~*manage.py ~shell ~*.delete()*|*truncate*|*DROP?*",
            "manage.py|django-admin shell ~*.delete()*|*truncate*",
            "php|artisan ~tinker ~*truncate*|*delete()*|*dropAll*|*->delete*",
            "wp post|user|comment|site|option delete|empty|reset",
            "n98-magerun|drush|occ ~db:drop|sql-drop|sql:drop|site:install",
            "aerospike|asinfo ~truncate*",
            "couchbase-cli bucket-delete|bucket-flush",
            "nats stream|kv|object rm|purge|del",
            "kubectl-cnpg|cnpg destroy",
            "rabbitmqadmin delete|purge",
            "temporal namespace|workflow delete|terminate",
            "memcflush",
            "sqlite3 ~.restore*",
            "dropdb|dropuser|pg_dropcluster|pg_resetwal",
            "redis-cli|valkey-cli|keydb-cli ~*flushall*|flushdb|shutdown|debug|swapdb",
            "redis-cli|valkey-cli|keydb-cli ~config ~set",
            "redis-cli|valkey-cli|keydb-cli <*flush*",
            "redis-cli|valkey-cli ~del|unlink @xargs",
            "mysqladmin|mariadb-admin ~drop|shutdown|flush-privileges|password",
            "pg_restore -c|--clean|--create",
            "mongorestore ~--drop",
            "pg_ctl|pg_ctlcluster ~stop|restart|kill",
            "prisma ~migrate ~reset",
            "prisma ~db ~push ~--force-reset|--accept-data-loss",
            "rails|rake|hanami|spring ~db:drop*|db:reset|db:purge|db:migrate:reset|db:schema:load|db:truncate_all|db:seed:replant|db:setup|disable_database_environment_check=1",
            "artisan ~migrate:fresh|migrate:reset|migrate:refresh|db:wipe|migrate:rollback",
            "php ~artisan|./artisan ~migrate:fresh|migrate:reset|migrate:refresh|db:wipe|migrate:rollback",
            "django-admin|manage.py ~flush|reset_db|sqlflush|dropdb|reset_schema",
            "django-admin|manage.py ~migrate ~zero",
            "python|uv|flask ~*manage.py ~flush|reset_db|sqlflush|dropdb|reset_schema",
            "python|uv|flask ~*manage.py ~migrate ~zero",
            "alembic ~downgrade ~base",
            "sequelize|sequelize-cli ~db:drop|db:migrate:undo:all",
            "typeorm|mikro-orm ~schema:drop|migration:fresh|schema:fresh",
            "knex ~migrate:rollback ~--all",
            "drizzle-kit ~drop",
            "drizzle-kit ~push ~--force",
            "supabase ~db ~reset",
            "heroku ~pg:reset|pg:copy|pg:push|addons:destroy|pg:killall",
            "flyway|liquibase ~clean|dropall|drop-all|rollback",
            "diesel|sqlx ~database|db ~reset|drop",
            "mix ~ecto.drop|ecto.reset",
            "dbmate|migrate|goose|atlas ~drop|reset",
            "dbmate|migrate|goose|atlas ~down ~-all",
            "atlas ~clean",
            "dotnet ~ef ~database ~drop",
            "elasticsearch|etcdctl ~del ~--prefix|--from-key",
            "curl -X=delete|--request=delete ~*:9200*|*/_all*",
            "influx ~delete",
            "goose|dbmate|migrate|tern|sql-migrate|yoyo|aerich|piccolo|medusa|graphile-migrate ~down-to|reset|backwards",
            "tern migrate -d=0|--destination=0",
            "hasura migrate|metadata apply|clear --down",
            "hasura metadata clear",
            "hasura migrate delete",
            "rails|rake ~db:migrate ~version=0",
            "mix ~ecto.rollback ~--all|-a|--to=0",
            "yoyo rollback -a|--all",
            "console|symfony|php ~doctrine:migrations:migrate ~first|prev",
            "sequelize|sequelize-cli ~db:migrate:undo:all",
            "nodetool ~clearsnapshot|decommission|removenode",
            "kafka-topics|kafka-topics.sh|kafka-delete-records ~--delete",
            "rabbitmqctl ~reset|force_reset|delete_queue|delete_vhost|purge_queue",
            "wp ~db ~reset|drop|clean",
            "drush ~sql-drop|sql:drop",
            "console|symfony|php ~doctrine:database:drop*|doctrine:schema:drop*",
            "cockroach ~quit",
            "neonctl|pscale|turso|planetscale ~delete|destroy",
        ]),
        // The last of the numbered databases is the one that test suites use by convention.
        unless: Patterns::new(&[
            "redis-cli|valkey-cli|keydb-cli -n=15 ~flushdb !-h|-u",
            "redis-cli|valkey-cli|keydb-cli -n=15 ~flushdb -h=localhost|-h=127.0.0.1|-h=redis|-h=*test*",
        ]),
        spares: throw_away::is_for_tests,
        check: Check::Command(database_destroys),
        matches: &[
            "rails runner 'User.delete_all'",
            "python manage.py shell -c 'User.objects.all().delete()'",
            "dropdb x",
            "redis-cli flushall",
            "npx prisma migrate reset",
            "rails db:drop",
            "python manage.py flush",
            "pg_restore --clean -d x y",
            "heroku pg:reset",
            "mysqladmin drop x",
            "php artisan migrate:fresh",
            "npx sequelize db:drop",
            "supabase db reset",
            "mongorestore --drop x",
            "alembic downgrade base",
            "rake db:reset",
            "RAILS_ENV=production rake db:drop",
            "dropdb prod_test_copy",
            "redis-cli -h cache.example -n 15 flushdb",
        ],
        passes: &[
            "python manage.py shell -c 'print(1)'",
            "rails runner 'puts User.count'",
            "redis-cli get x",
            "npx prisma migrate dev",
            "rails db:migrate",
            "pg_dump x",
            "createdb test",
            "python manage.py migrate",
            "alembic upgrade head",
            "dropdb --if-exists app_test",
            "RAILS_ENV=test bundle exec rake db:drop",
            "php artisan migrate:fresh --env=testing",
            "redis-cli -h localhost -n 15 flushdb",
        ],
        ..RULE
    },
];

/// Programs that take SQL or something like it.
const SQL_CLIENTS: [&str; 24] = [
    "psql",
    "pgcli",
    "mysql",
    "mariadb",
    "mycli",
    "sqlite3",
    "sqlite",
    "duckdb",
    "mongosh",
    "mongo",
    "cqlsh",
    "sqlcmd",
    "clickhouse-client",
    "clickhouse",
    "cockroach",
    "snowsql",
    "sqlplus",
    "bq",
    "trino",
    "presto",
    "influx",
    "usql",
    "turso",
    "litecli",
];

fn sql_destroys(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let is_hosted = input.runs(&[
        "wrangler d1 execute",
        "supabase db execute",
        "aws rds-data execute-statement",
        "fly|flyctl postgres connect",
        "heroku pg:psql",
        "npx prisma db",
        "prisma db execute",
        "planetscale shell",
        "turso db shell",
    ]);
    let is_code = command.code.is_some();
    let is_client = SQL_CLIENTS.contains(&command.program.as_str());
    if !is_client && !is_hosted && !is_code || is_client && throw_away::is_for_tests(input) {
        return None;
    }
    let mut texts: Vec<String> = Vec::new();
    if let Some(code) = &command.code {
        let runs = ["execute(", "executescript(", "query(", ".exec(", ".run(", "raw("]
            .iter()
            .any(|call| code.contains(call));
        let names = crate::script::string_literals(code);
        let is_for_tests = names.iter().any(|name| throw_away::is_test_name(name));
        let is_file =
            |name: &str| [".db", ".sqlite3", ".sqlite"].iter().any(|end| name.strip_suffix(end).is_some());
        let is_scratch = code.matches("connect(").count() < 2
            && names.iter().any(|name| name == ":memory:" || is_for_tests && is_file(name));
        let is_call = CALLS_THAT_DESTROY.iter().any(|call| code.contains(call));
        if is_call && !is_for_tests {
            return input.found_if(true);
        }
        if runs && !is_scratch {
            texts.extend(names);
        }
        if is_client {
            texts.push(code.clone());
            texts.extend(command.stdin.text.clone());
        }
    } else {
        texts.extend(command.args.iter().filter(|arg| arg.contains([' ', '(', '/', ';'])).cloned());
        texts.extend(command.stdin.text.clone());
    }
    input.found_if(texts.iter().any(|text| is_destructive(text)))
}

/// Calls of libraries that empty or drop a database.
const CALLS_THAT_DESTROY: [&str; 29] = [
    "dropDatabase(",
    "drop_database(",
    "deleteMany({})",
    "delete_many({})",
    "dropCollection(",
    "flushall(",
    "flushdb(",
    "flushAll(",
    "flushDb(",
    ".delete_all",
    ".destroy_all",
    ".drop_all(",
    "dropSchema(",
    "drop_schema(",
    "dropTable(",
    "drop_table(",
    "dropAllTables(",
    "synchronize(true",
    "sync({force:true",
    "sync({ force: true",
    "deleteMany()",
    "delete_collection(",
    "drop_collection(",
    "indices.delete(",
    "resetDatabase(",
    "deleteIndex(",
    "clearObjects(",
    "delete_index(",
    "reset_database(",
];

/// Statements without any of these are looked at no further: a script may have thousands.
const SQL_VERBS: [&str; 5] = ["drop", "truncate", "delete", "update", "grant"];

/// The shortest verb with something that it destroys.
const MIN_STATEMENT_LEN: usize = "drop x y".len();

/// What SQL can drop.
const DROPPED: [&str; 17] = [
    "table",
    "database",
    "schema",
    "view",
    "user",
    "role",
    "index",
    "keyspace",
    "collection",
    "owned",
    "tablespace",
    "materialized",
    "type",
    "function",
    "sequence",
    "extension",
    "bucket",
];

/// Whether one of the statements destroys something.
fn is_destructive(text: &str) -> bool {
    let plain = without_comments(text).to_lowercase();
    let dense = plain.replace(' ', "");
    if ["dropdatabase(", ".drop()", "deletemany({})", "remove({})", ".dropcollection", "dropindexes("]
        .iter()
        .any(|call| dense.contains(call))
    {
        return true;
    }
    // Asked once, not of every statement: there may be thousands.
    let names_everything = plain.contains("where 1=1") || plain.contains("where true");
    let statements = plain.split([';', '\n']).chain([plain.as_str()]);
    let is_worth = |statement: &&str| {
        MIN_STATEMENT_LEN <= statement.len() && SQL_VERBS.iter().any(|verb| statement.contains(verb))
    };
    statements.filter(is_worth).any(|statement| {
        let words: Vec<&str> = statement
            .split(|next: char| !(next.is_alphanumeric() || next == '_'))
            .filter(|word| !word.is_empty())
            .collect();
        let follows = |first: &str, second: &[&str]| {
            words.windows(2).any(|pair| pair[0] == first && second.contains(&pair[1]))
        };
        // A database of tests is there to be dropped.
        let is_test = |at: usize| {
            let name = words[at..].iter().find(|word| !["if", "exists"].contains(word));
            name.is_some_and(|name| throw_away::is_test_name(name))
        };
        if is_in_test_database(statement) {
            return false;
        }
        let drops_object = words.windows(2).enumerate().any(|(at, pair)| {
            let is_scratch = ["database", "schema"].contains(&pair[1]) && is_test(at + 2);
            pair[0] == "drop" && DROPPED.contains(&pair[1]) && !is_scratch
        });
        let drops = drops_object || (follows("drop", &["column"]) && words.contains(&"alter"));
        let truncates = words.first() == Some(&"truncate") || follows("truncate", &["table"]);
        let starts = |verb: &str| words.first() == Some(&verb);
        let deletes = starts("delete") && words.get(1) == Some(&"from") && !words.contains(&"where");
        let updates = starts("update") && words.contains(&"set") && !words.contains(&"where");
        let everything = words
            .windows(4)
            .any(|four| four[0] == "where" && (four[1] == four[2] || (four[1] == "1" && four[2] == "1")))
            || names_everything;
        let grants = starts("grant") && words.contains(&"all") && words.contains(&"superuser");
        drops
            || truncates
            || deletes
            || updates
            || grants
            || (everything && (words.contains(&"delete") || words.contains(&"update")))
    })
}

/// Whether every table is named with a database of tests: `drop table shop_test.a`.
fn is_in_test_database(statement: &str) -> bool {
    let mut words =
        statement.split_whitespace().skip_while(|word| !SQL_VERBS.contains(word)).skip(1).peekable();
    let skipped = ["table", "from", "if", "exists", "only", "view", "index"];
    while words.next_if(|word| skipped.contains(word)).is_some() {}
    let rest = words.take_while(|word| !["where", "cascade", "set", "restart"].contains(word));
    let names: Vec<&str> = rest.flat_map(|word| word.split(',')).filter(|name| !name.is_empty()).collect();
    let is_test = |name: &&str| {
        let schema = name.trim_matches(['`', '"', '\'', '[']).split_once('.');
        schema.is_some_and(|(schema, _)| throw_away::is_test_name(schema.trim_end_matches(['`', '"', ']'])))
    };
    !names.is_empty() && names.iter().all(is_test)
}

fn without_comments(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/*") {
        plain.push_str(before);
        plain.push(' ');
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    if !plain.contains("--") {
        return plain;
    }
    let lines = plain.lines().map(|line| line.split("--").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

fn database_destroys(input: &RuleInput<'_>) -> Option<String> {
    input.found_file_if(|file| file.access.destroys() && is_data(&file.path))
}

/// A file with the data of a system in use.
fn is_data(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default().to_lowercase();
    name.contains("prod")
        && [".db", ".sqlite", ".sqlite3", ".rdb", ".mdb"].iter().any(|end| name.ends_with(end))
}
