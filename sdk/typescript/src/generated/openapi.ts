// Generated from docs/reference/openapi.json by `npm run generate`. Do not edit: a test compares the two.
export interface components {
    schemas: {
        /** @description A learned program. */
        Artifact: {
            id: components["schemas"]["Id_art"];
            patternId: components["schemas"]["Id_pat"];
            /**
             * @description Where an artifact stands.
             * @enum {string}
             */
            state: "shadow" | "eligible" | "promoted" | "quarantined" | "retired";
            /**
             * @description What it is: `classifier`, `program`, `hybrid` (a program that leaves fields open), `tagger` (of pieces of the input), `plan`
             *     (of tool calls), or `imported`.
             */
            type: string;
            /** @description The fields that it leaves open: with any, it tells a part of each answer, and a small model the rest. */
            openFields: string[];
            /** @description The small model that it is proven with; null where nothing is left open, or nobody may be asked. */
            smallModel: string | null;
            /**
             * Format: uint32
             * @description Its version, from 1; a new one is made when enough is new.
             */
            version: number;
            /**
             * Format: uint8
             * @description The highest level of side effects of what its answers call, 0 to 4; above 0 an operator has to promote it.
             */
            sideEffectLevel: number;
            /**
             * Format: double
             * @description The share of its answers that surely agree with live's, by what was compared; 0 to 1.
             */
            confidence: number;
            /** @description What has to hold before it is promoted, one by one. */
            gates: components["schemas"]["PromotionGateStatus"][];
            /** @description Comparisons beside live, before anything is served. */
            shadow: components["schemas"]["Comparisons"];
            /** @description Comparisons in the place of serving, since it was promoted. */
            audit: components["schemas"]["Comparisons"];
            /** @description Recorded runs it was tried on when it was made. */
            replay: components["schemas"]["Comparisons"];
            /** @description What came of the last replay that somebody asked for; null if nobody did. */
            lastReplay: components["schemas"]["ArtifactReplay"] | null;
            /**
             * Format: double
             * @description The share of what it could answer that it serves; the rest is audited.
             */
            servedShare: number;
            /**
             * Format: uint64
             * @description How many requests it answered.
             */
            servedRuns: number;
            /** @description What that saved. */
            savedUsd: components["schemas"]["Usd"];
            /** @description The program that serves, or would; null while it is only compared. */
            program: components["schemas"]["ArtifactProgram"] | null;
            /**
             * @description The versions whose programs are kept, oldest first: the one in force and every one that has served. What they were made
             *     of, and what was proven when they were.
             */
            versions: components["schemas"]["ArtifactVersion"][];
            /** @description Answers that somebody corrected. */
            corrections: components["schemas"]["ArtifactCorrection"][];
            /** @description What became of it, oldest first. */
            changes: components["schemas"]["ArtifactChange"][];
            createdAt: components["schemas"]["Timestamp"];
        };
        /** @description A change of where it stands. */
        ArtifactChange: {
            at: components["schemas"]["Timestamp"];
            /**
             * @description Where an artifact stands.
             * @enum {string}
             */
            state: "shadow" | "eligible" | "promoted" | "quarantined" | "retired";
            /** @description Why. */
            reason: string;
            /** @description The run that was the reason. */
            runId: components["schemas"]["Id_run"];
        };
        /** @description An answer that somebody corrected. */
        ArtifactCorrection: {
            runId: components["schemas"]["Id_run"];
            at: components["schemas"]["Timestamp"];
            /**
             * Format: uint32
             * @description The version that had answered.
             */
            version: number;
        };
        /** @description An artifact with its evidence. */
        ArtifactDetail: {
            artifact: components["schemas"]["Artifact"];
            /** @description The last comparisons, newest first. */
            evaluations: components["schemas"]["ArtifactEvaluation"][];
            /** @description What it was made of; null when that is no longer there. */
            pattern: components["schemas"]["Pattern"] | null;
        };
        /** @description A learned program that answered. */
        ArtifactDetails: {
            /** @description The artifact. */
            artifactId: components["schemas"]["Id_art"];
            /**
             * Format: uint32
             * @description Its version.
             */
            version: number;
            /** @description The pattern it was learned from. */
            patternId: components["schemas"]["Id_pat"];
            /** @description Who told what it leaves open, when it told a part of the answer. */
            completion?: components["schemas"]["Completion"] | null;
        };
        /** @description One comparison with live. */
        ArtifactEvaluation: {
            /** @description The run that was compared. */
            runId: components["schemas"]["Id_run"];
            at: components["schemas"]["Timestamp"];
            /** @description On which occasion: `shadow`, `audit`, or `feedback` when somebody did not like what was served. */
            kind: string;
            /** Format: uint32 */
            version: number;
            /** @description Whether both said the same. */
            agreed: boolean;
        };
        /** @description Artifacts, newest first. */
        ArtifactPage: {
            artifacts: components["schemas"]["Artifact"][];
            /** @description Where the next page begins; null on the last. */
            next: components["schemas"]["Id_art"] | null;
        };
        /** @description A program, by its text. */
        ArtifactProgram: {
            /** Format: uint32 */
            version: number;
            /** @description SHA-256 of the text, as events name it. */
            digest: string;
            /** Format: uint64 */
            bytes: number;
        };
        /** @description What came of trying an artifact on recorded runs. */
        ArtifactReplay: {
            /** @description The run that records it. */
            runId: components["schemas"]["Id_run"];
            at: components["schemas"]["Timestamp"];
            /**
             * Format: uint32
             * @description The version that was tried.
             */
            version: number;
            /**
             * Format: uint64
             * @description Recorded runs of the pattern.
             */
            runs: number;
            /**
             * Format: uint64
             * @description Those that the artifact answers; in the fields that it tells, if it leaves any open.
             */
            answered: number;
            /**
             * Format: uint64
             * @description Those that it answers otherwise than live did.
             */
            disagreed: number;
            /**
             * Format: uint64
             * @description Comparisons that were known from before.
             */
            known: number;
        };
        /** @description A version whose program is kept. */
        ArtifactVersion: {
            /** Format: uint32 */
            version: number;
            /** @description SHA-256 of the text, as events name it. */
            digest: string;
            /** Format: uint64 */
            bytes: number;
            /** @description When it was made. */
            at: components["schemas"]["Timestamp"];
            /** @description The run with which it was made: it knows nothing that came later in the log. */
            madeWithRunId: components["schemas"]["Id_run"];
            /**
             * Format: uint64
             * @description How many live answers the pattern had taught until then.
             */
            samples: number;
            /** @description What the proof had counted until then. */
            proof: components["schemas"]["Comparisons"];
            /**
             * Format: uint64
             * @description How many requests it answered.
             */
            servedRuns: number;
        };
        /** @description The run that records something. */
        Begun: {
            runId: components["schemas"]["Id_run"];
        };
        /** @description An answer that is used again. */
        CacheDetails: {
            /** @description The run that it was first given in. */
            sourceRun: components["schemas"]["Id_run"];
            /**
             * Format: uint64
             * @description How old it is.
             */
            ageSeconds: number;
        };
        /** @description What is kept, by kind. */
        CacheReport: {
            stats: components["schemas"]["KindStats"][];
        };
        /**
         * @description What an entry is.
         * @enum {string}
         */
        CacheType: "exact_response" | "tool_result" | "evaluation" | "negative";
        /** @description How often something was compared. */
        Comparisons: {
            /** Format: uint64 */
            compared: number;
            /** Format: uint64 */
            disagreed: number;
        };
        /** @description The part of an answer that no learned program told. */
        Completion: {
            /** @description The small model that was asked for it. */
            model: string;
            /** @description The fields of the answer that it told. */
            fields: string[];
        };
        Digest: string;
        /** @description What may happen. There is no `allowed: bool` to forget to look at. */
        Effect: "allow" | "approval_required" | "deny";
        /** @description When two answers are the same. */
        Equivalence: {
            /** @constant */
            by: "exact";
        } | {
            /** @constant */
            by: "json";
            /** @description By how much the number of a field may be off. */
            tolerances?: {
                [key: string]: number;
            };
            /** @description Fields that do not count. */
            ignored?: string[];
        } | {
            /** @constant */
            by: "words";
            /**
             * Format: double
             * @description The share, above 0 and up to 1.
             */
            least: number;
        };
        FeedbackType: "rating";
        /** @description What its requests have in common. */
        Fingerprints: {
            /** @description Model, instructions, tools, form of the answer and sampling; or the template, where there are no instructions. */
            task: string;
            /**
             * @description What was mined of requests without instructions, with slots for what differs: `translate {text} to french`; null where
             *     instructions say what is wanted.
             */
            template: string | null;
        };
        /** @description Whether what the governor says is carried out, or only recorded. */
        GatewayMode: "observe" | "enforce";
        /** @description A route that would have answered. */
        GhostRoute: {
            /** @description Which one. */
            route: components["schemas"]["Route"];
            /** @description What it said for itself. */
            reason: string;
            /** @description What it would have saved; absent when the price is not known. */
            savedUsd: components["schemas"]["Usd"] | null;
        };
        Id_apr: string;
        Id_art: string;
        Id_key: string;
        Id_pat: string;
        Id_run: string;
        Id_sfx: string;
        Id_ten: string;
        /** @description What the entries of a kind come to. */
        KindStats: {
            cacheType: components["schemas"]["CacheType"];
            /**
             * Format: uint64
             * @description How many serve.
             */
            entries: number;
            /**
             * Format: uint64
             * @description How often they did.
             */
            hits: number;
            /**
             * Format: uint64
             * @description How large what they serve is.
             */
            bytes: number;
        };
        /** @description What a tick came to. */
        LearningReport: {
            /**
             * Format: uint64
             * @description Leaves of the log that were read.
             */
            leaves: number;
            /**
             * Format: uint64
             * @description Live answers that taught something.
             */
            lessons: number;
            /**
             * Format: uint64
             * @description Patterns that were seen for the first time.
             */
            patternsDiscovered: number;
            /**
             * Format: uint64
             * @description Attempts to make an artifact.
             */
            attempts: number;
            /**
             * Format: uint64
             * @description Artifacts that were made.
             */
            artifactsSynthesized: number;
            /** @description Artifacts that have just passed every gate. */
            promotionsEligible: components["schemas"]["Id_art"][];
            /** @description Artifacts that were promoted without being asked for. */
            autoPromoted: components["schemas"]["Id_art"][];
            /** @description Artifacts that serve no more, because they differed from live. */
            demoted: components["schemas"]["Id_art"][];
            /** @description Artifacts that serve no more, because they were corrected or somebody said so. */
            quarantined: components["schemas"]["Id_art"][];
            /**
             * Format: uint
             * @description How many artifacts serve, of all tenants.
             */
            serving: number;
        };
        /** @description What somebody thinks of an answer. */
        NewFeedback: {
            type: components["schemas"]["FeedbackType"];
            /**
             * @description 1 is good, -1 is bad
             * @enum {integer}
             */
            rating: 1 | -1;
            /**
             * @description What the answer should have been.
             * @default null
             */
            correction?: string | null;
        };
        /** @description Something that had a part in a run. */
        NewInfluence: {
            /** @description Where it comes from, such as `web:example.com`. */
            source: string;
            trustLane: components["schemas"]["TrustLane"];
            /**
             * @description The SHA-256 of what it said.
             * @default null
             */
            contentHash?: components["schemas"]["Digest"] | null;
        };
        /** @description A prompt that was answered elsewhere. */
        NewPrompt: {
            /** @description Where it was typed, such as `claude-code`. */
            source: string;
            /** @description What was typed. */
            prompt: string;
            /**
             * @description The conversation that it belongs to.
             * @default null
             */
            sessionId?: string | null;
            /**
             * @description Whatever else belongs to it.
             * @default {}
             */
            metadata?: {
                [key: string]: unknown;
            };
        };
        /** @description What a call gave, to be kept. */
        NewToolResult: {
            /** @description 1 to 120 visible characters */
            toolName: string;
            /**
             * @description Whom it is about; the one in `x-punk-subject` when left out.
             * @default null
             */
            subject?: components["schemas"]["Subject"] | null;
            /** @description The arguments of the call. */
            args: unknown;
            /** @description What the tool gave, at most 1 MiB. */
            result: unknown;
            /**
             * Format: uint64
             * @description For how long it serves; at most a day.
             */
            ttlSeconds: number;
            /**
             * @description How much the tool changes; only 0 and 1 can be kept.
             * @default null
             */
            sideEffectLevel?: components["schemas"]["SideEffectLevel"] | null;
        };
        /** @description An event of a run. */
        NewTrace: {
            /** @description The run, as `x-punk-run-id` named it. */
            runId: string;
            /**
             * @description What happened, such as `tool.called`. Types of the runtime's own are refused, but for `side_effect.planned` and
             *     `side_effect.executed`.
             */
            type: string;
            /**
             * @description Its fields. Of a side effect: `toolName`, `level` from 0 to 4, `payload`, and for an executed one `sideEffectId`.
             * @default {}
             */
            payload?: {
                [key: string]: unknown;
            };
        };
        /** @description Where something is recorded. */
        Noted: {
            runId: components["schemas"]["Id_run"];
            /** @description The place of the event in its run. */
            seq: components["schemas"]["Seq"];
        };
        /** @description A route that was asked and did not serve. */
        PassedRoute: {
            /** @description Which one. */
            route: components["schemas"]["Route"];
            /** @description What it said. */
            reason: string;
        };
        /** @description A pattern. */
        Pattern: {
            id: components["schemas"]["Id_pat"];
            /** @description The first words of what its requests have in common. */
            name: string;
            /**
             * @description Where the learning of a pattern stands.
             * @enum {string}
             */
            state: "observed" | "candidate" | "synthesizing" | "replaying" | "shadow" | "eligible" | "promoted" | "negative" | "retired" | "quarantined";
            /** @description The model's one name. */
            model: string;
            /** @description What kind of work it is: `classification`, `schema_deterministic`, `free_text`. */
            taskClass: string;
            /**
             * Format: uint64
             * @description How many runs live answered.
             */
            runCount: number;
            /** @description What one costs, on average. */
            averageCostUsd: components["schemas"]["Usd"];
            /**
             * Format: uint64
             * @description How long one takes, on average.
             */
            averageLatencyMs: number;
            /**
             * Format: double
             * @description How much of the answers has one shape, less what was corrected; 0 to 1.
             */
            stabilityScore: number;
            /**
             * Format: double
             * @description What could be saved by learning it; 0 to 1.
             */
            optimizableScore: number;
            fingerprints: components["schemas"]["Fingerprints"];
            /** @description When an answer is the same as live's. */
            equivalence: components["schemas"]["Equivalence"];
            /** @description Why it stands where it stands. */
            reasons: string[];
            /** @description What was made of it; null if nothing was. */
            artifactId: components["schemas"]["Id_art"] | null;
            createdAt: components["schemas"]["Timestamp"];
            updatedAt: components["schemas"]["Timestamp"];
        };
        /** @description Patterns, newest first. */
        PatternPage: {
            patterns: components["schemas"]["Pattern"][];
            /** @description Where the next page begins; null on the last. */
            next: components["schemas"]["Id_pat"] | null;
        };
        /** @description One condition of promotion. */
        PromotionGateStatus: {
            name: string;
            passed: boolean;
            /** @description What was found. */
            reason: string;
        };
        /** @description One way to answer; the value of the `x-punk-route` header. */
        Route: "live" | "exact_cache" | "semantic_cache" | "plan_cache" | "artifact" | "hybrid" | "model_substitution" | "chorus" | "blocked" | "approval_required";
        /** @description Why a run was answered the way it was: collected from what the routes and the governor said, never written by hand. */
        RouteExplanation: {
            /** @description The route that answered. */
            route: components["schemas"]["Route"];
            /** @description What it said for itself. */
            reason: string;
            /** @description The routes asked before it, in order, with their reasons. */
            rejected: components["schemas"]["PassedRoute"][];
            /** @description What the governor said. */
            verdict: components["schemas"]["Verdict"];
            /** @description Which answer was used again, when one was. */
            cache?: components["schemas"]["CacheDetails"] | null;
            /** @description Which learned program answered, when one did. */
            artifact?: components["schemas"]["ArtifactDetails"] | null;
            /** @description What the live route would have cost on top; absent when that is not known, or nothing was saved. */
            estimatedSavedUsd?: components["schemas"]["Usd"] | null;
            /** @description What would have answered, had the key not been one that only observes. */
            ghost?: components["schemas"]["GhostRoute"] | null;
            /** @description Who answered in the end, when the first choice did not. */
            fallback?: string | null;
            /** @description What of the request the upstream's wire has no word for, and so was not told. */
            leftOut?: string[];
        };
        /** @description A run; every field comes from its events. What was erased or withheld is left out. */
        Run: {
            id: components["schemas"]["Id_run"];
            tenant: components["schemas"]["Id_ten"];
            /** @description What kind of work. */
            kind: components["schemas"]["RunKind"] | null;
            /** @description The application that asked. */
            app: string | null;
            /** @description The agent identity that asked. */
            agent: string | null;
            /** @description The pseudonymous end user. */
            subject?: string | null;
            /** @description The key that was used. */
            keyId?: components["schemas"]["Id_key"] | null;
            /** @description Whether the key observes or enforces. */
            gatewayMode: components["schemas"]["GatewayMode"] | null;
            /** @description The model that was asked for. */
            model: string | null;
            /** @description The wire that the caller spoke. */
            wire?: string | null;
            /** @description Who answered, if a model was asked. */
            provider?: string | null;
            /** @description Where it stands. */
            status: components["schemas"]["RunStatus"];
            /** @description What went wrong, if something did. */
            errorCode?: string | null;
            /** @description The route that answered. */
            route: components["schemas"]["Route"] | null;
            /**
             * @description Why it went this way: the route, its reason, the routes that passed with theirs, the verdict. Only when one run is
             *     looked at.
             */
            routeExplanation?: components["schemas"]["RouteExplanation"] | null;
            /** @description Tokens used. */
            usage: components["schemas"]["RunUsage"];
            /** @description What it cost; null when the price is not known, which is not the same as free. */
            costUsd: components["schemas"]["Usd"] | null;
            /** @description What the live route would have cost on top. */
            savedUsd: components["schemas"]["Usd"];
            /** @description What another route would have saved, had the key not been one that only observes. */
            ghostSavedUsd: components["schemas"]["Usd"];
            /**
             * Format: uint64
             * @description From the first byte in to the last byte out.
             */
            latencyMs: number | null;
            startedAt: components["schemas"]["Timestamp"];
            /** @description When it ended. Only when one run is looked at. */
            finishedAt?: components["schemas"]["Timestamp"] | null;
            /** @description When its last event was recorded. */
            updatedAt: components["schemas"]["Timestamp"];
            /** @description Whether it has ended. */
            finished: boolean;
            /**
             * Format: uint64
             * @description How many events it has.
             */
            events: number;
        };
        /** @description All there is of a run. */
        RunDetail: {
            run: components["schemas"]["Run"];
            /** @description What happened, in order. */
            events: components["schemas"]["TraceEvent"][];
            /** @description What it did to the world, as far as it was told. */
            sideEffects: components["schemas"]["SideEffect"][];
        };
        /** @description What kind of work a run is. One runs list, one evidence packet and one verifier serve them all. */
        RunKind: "chat" | "messages" | "responses" | "embeddings" | "execution" | "turn" | "web" | "ingest" | "workflow" | "audit";
        /** @description Where a run stands. */
        RunStatus: "running" | "waiting" | "completed" | "blocked" | "failed" | "cancelled";
        /** @description Tokens of a run; what is a part of a sum says so. */
        RunUsage: {
            /**
             * Format: uint64
             * @description All tokens of the request, cached ones included.
             */
            inputTokens: number;
            /**
             * Format: uint64
             * @description All tokens of the answer, thoughts included.
             */
            outputTokens: number;
            /**
             * Format: uint64
             * @description Of the request's tokens, those that the vendor had in its own cache.
             */
            cacheReadTokens: number;
            /**
             * Format: uint64
             * @description Of the request's tokens, those that the vendor put into its own cache.
             */
            cacheWriteTokens: number;
            /**
             * Format: uint64
             * @description Of the answer's tokens, those that were thoughts.
             */
            reasoningTokens: number;
            /** @description Whether the numbers are our own count, because the vendor gave none. */
            estimated: boolean;
        };
        /** @description What runs cost, and what was saved. */
        SavingsSummary: {
            /**
             * Format: uint64
             * @description All runs that asked for a model: live, optimised, blocked and failed ones.
             */
            totalRuns: number;
            /**
             * Format: uint64
             * @description Answered by the model itself.
             */
            liveRuns: number;
            /**
             * Format: uint64
             * @description Answered by a cheaper route.
             */
            optimizedRuns: number;
            /**
             * Format: uint64
             * @description Refused by policy, quota or a guard.
             */
            blockedRuns: number;
            /**
             * Format: uint64
             * @description Ended by an error, or by a caller who hung up.
             */
            failedRuns: number;
            /**
             * Format: uint64
             * @description Observed elsewhere and handed in; in none of the other numbers.
             */
            observedRuns: number;
            /** @description What they cost, as far as that is known. */
            totalCostUsd: components["schemas"]["Usd"];
            /**
             * Format: uint64
             * @description How many of them have no known price.
             */
            unpricedRuns: number;
            /** @description What the live route would have cost on top. */
            totalSavedUsd: components["schemas"]["Usd"];
            /** @description What would have been saved, had keys that only observe not answered live. */
            ghostSavedUsd: components["schemas"]["Usd"];
            /**
             * Format: uint64
             * @description How much sooner answers came, in milliseconds.
             */
            totalSavedMs: number;
            /**
             * Format: double
             * @description Of the runs that were answered, how many were by a kept answer; 0 to 1.
             */
            cacheHitRate: number;
            /**
             * Format: double
             * @description Of the runs that were answered, how many were by a learned program; 0 to 1.
             */
            artifactHitRate: number;
            /**
             * Format: uint64
             * @description Tokens that compact pages saved against whole ones.
             */
            webContextTokensSaved: number;
        };
        /**
         * Format: uint64
         * @description The place of an event in its run: the first has 1, an empty run is at [`Seq::START`].
         */
        Seq: number;
        /** @description An artifact after something was decided about it. */
        ShownArtifact: {
            artifact: components["schemas"]["Artifact"];
        };
        /** @description One side effect of a run. */
        SideEffect: {
            /** @description Its id. */
            id: components["schemas"]["Id_sfx"];
            /** @description The run that wanted it. */
            runId: components["schemas"]["Id_run"];
            /** @description The tool that would do it. */
            toolName: string;
            /** @description How much it changes. */
            level: components["schemas"]["SideEffectLevel"];
            /** @description What exactly. */
            payload: unknown;
            /** @description How far it got. */
            status: components["schemas"]["SideEffectStatus"];
            /** @description When it was announced. */
            plannedAt: components["schemas"]["Timestamp"];
            /** @description When it was done, suppressed or refused. */
            settledAt: components["schemas"]["Timestamp"] | null;
        };
        /**
         * Format: uint8
         * @description How much an action changes, from nothing (0) to what cannot be taken back (4). An undeclared tool is a 3.
         */
        SideEffectLevel: number;
        /** @description How far a side effect got. */
        SideEffectStatus: "planned" | "executed" | "suppressed" | "blocked";
        /** @description A pseudonymous end user (`X-Punk-Subject`). Part of every cache key, so one user's answer never serves another. */
        Subject: string;
        /** Format: date-time */
        Timestamp: string;
        /** @description A call of a tool that may have been made before. */
        ToolCall: {
            /** @description 1 to 120 visible characters */
            toolName: string;
            /**
             * @description Whom it is about; the one in `x-punk-subject` when left out.
             * @default null
             */
            subject?: components["schemas"]["Subject"] | null;
            /** @description Its arguments; the order of members does not matter. */
            args: unknown;
        };
        /** @description What the call gave before. */
        ToolHit: {
            hit: boolean;
            /** @description What the tool gave. */
            result?: unknown;
        };
        /** @description Whether it was kept. */
        ToolStored: {
            stored: boolean;
            /** @description Why not. */
            reason?: string | null;
        };
        /** @description One event of a run, as the REST interface shows it: values in the clear, salts left out. */
        TraceEvent: {
            /** @description Whose run it is. */
            tenant: components["schemas"]["Id_ten"];
            /** @description Which run. */
            runId: components["schemas"]["Id_run"];
            /** @description Where in the run. */
            seq: components["schemas"]["Seq"];
            /** @description When it was recorded. */
            at: components["schemas"]["Timestamp"];
            /** @description What happened, such as `model.completed`. */
            type: string;
            /** @description Its fields; a withheld one is `{"withheld": digest}`. */
            payload: unknown;
            /** @description The hash that the next event builds on. */
            hash: components["schemas"]["Digest"];
        };
        /** @description Where it is recorded. */
        Traced: {
            runId: components["schemas"]["Id_run"];
            /** @description The place of the event in its run. */
            seq: components["schemas"]["Seq"];
            /** @description The side effect that the event is about. */
            sideEffectId?: components["schemas"]["Id_sfx"] | null;
            /** @description For a planned side effect: what the governor says of it. Whoever would perform it goes by this. */
            verdict?: components["schemas"]["Verdict"] | null;
            /** @description What people are asked, if they are; when it is approved, plan the same again. */
            approvalId?: components["schemas"]["Id_apr"] | null;
        };
        /** @description How far something is trusted. */
        TrustLane: "untrusted" | "observed" | "verified" | "human_approved";
        /** @description dollars, exact to the micro-dollar */
        Usd: number;
        /** @description The governor's answer, with the rule that gave it: the ledger, the dashboard and a replay read the same value. */
        Verdict: {
            /** @description What may happen. */
            effect: components["schemas"]["Effect"];
            /** @description The name of the policy that decided. */
            policy: string;
            /**
             * Format: uint32
             * @description The rule in it, counted from 0; absent when no rule matched and the policy's default decided.
             */
            rule: number | null;
        };
    };
}
