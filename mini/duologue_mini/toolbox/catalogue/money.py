"""Tools for money and numbers: currencies, shares, accounts, calculators, units.

Results are computed, so that the model never reads a wrong sum.
"""

import re
from random import Random
from typing import Any

from duologue_mini.toolbox import shared_parameters as o
from duologue_mini.toolbox.actions import Action
from duologue_mini.toolbox.outcomes import done, facts
from duologue_mini.toolbox.parameters import Parameter

LENGTHS = {
    "miles": 1609.344,
    "kilometres": 1000.0,
    "metres": 1.0,
    "feet": 0.3048,
    "yards": 0.9144,
    "inches": 0.0254,
}
SHORT = {"mi": 1609.344, "km": 1000.0, "m": 1.0, "ft": 0.3048, "yd": 0.9144, "cm": 0.01}
LONG_UNITS, SHORT_UNITS = "one:" + "|".join(LENGTHS), "one:" + "|".join(SHORT)


def _exchange_currency(random: Random, arguments: dict[str, Any]) -> dict[str, Any]:
    """An amount at an exchange rate."""
    rate = round(random.uniform(0.02, 190), random.choice([2, 3, 4]))
    return {"result": round(float(arguments["amount"]) * rate, 2), "rate": rate}


def _evaluate(random: Random, arguments: dict[str, Any]) -> dict[str, Any]:
    """The value of an arithmetic expression; other inputs get a random result."""
    text = str(arguments["sum"])
    if not re.fullmatch(r"[0-9.+\-*/() ]+", text):
        return {}
    try:
        result = round(eval(text, {"__builtins__": {}}), random.choice([2, 4, 6]))
    except (ArithmeticError, SyntaxError):
        return {}
    return {"result": int(result) if result == int(result) else result}


def _statistics(_: Random, arguments: dict[str, Any]) -> dict[str, Any]:
    """Mean, minimum and maximum."""
    numbers = [float(one) for one in arguments["numbers"]]
    return {"mean": round(sum(numbers) / len(numbers), 2), "largest": max(numbers), "smallest": min(numbers)}


def _convert_length(_: Random, arguments: dict[str, Any]) -> dict[str, Any]:
    """A length in another unit."""
    return {
        "result": round(float(arguments["value"]) * LENGTHS[arguments["from"]] / SHORT[arguments["to"]], 3)
    }


def _random_number(random: Random, arguments: dict[str, Any]) -> dict[str, Any]:
    """A number between two others."""
    low, high = arguments["range"].values()
    return {"value": random.randint(low, high)}


MONEY = [
    Action(
        "money",
        "convert currency|currency convert|exchange|fx convert|exchange rate|convert money",
        "convert {money|an amount} {from one currency to another|between currencies}",
        "{convert|change|exchange} $amount $from {to|into} $to|{How much is|What is|What's} $amount $from in $to?|{convert|change} {money|an amount}",
        facts("{That is|It is|$amount $from is} $result $to.", result="num:1:90000", rate="num:0:190"),
        {
            "amount": o.AMOUNT,
            "from": Parameter(
                "from_currency source base from",
                "currency",
                "Currency to convert from",
                " from $v",
                "From which currency?",
            ),
            "to": Parameter(
                "to_currency target quote to",
                "currency",
                "Currency to convert to",
                " to $v",
                "{Into|To} which currency?",
            ),
        },
        figure=_exchange_currency,
    ),
    Action(
        "stocks",
        "stock price|get quote|quote|share price|ticker price|get stock",
        "{get|look up} the price of {a share|a stock}",
        "{What's|What is|How much is} {the price of |a share of |}$symbol{| now| today}?|{get|check|show|look up} {the price|a quote|the share price} {of|for} $symbol|How is $symbol {doing|trading}?",
        facts(
            "$symbol {is|stands|trades} at $price.",
            price="num:1:2000",
            change_percent="num:0:9",
            volume="int:1000:9000000",
        ),
        {
            "symbol": Parameter(
                "symbol ticker stock",
                "symbol",
                "{Ticker|Symbol of the share}",
                " {of|for} $v",
                "Which share?",
            )
        },
        {"currency": o.CURRENCY},
    ),
    Action(
        "bank",
        "send money|transfer|make payment|pay|bank transfer|transfer funds",
        "{send|transfer} money{| to somebody}",
        "{send|transfer|pay} $amount to $name|{send|transfer|give} $name $amount|{make|start} a {payment|transfer} of $amount to $name|{send|transfer} {some |}money",
        done("{I sent $amount to $name|$amount is on the way to $name}."),
        {
            "name": Parameter(
                "recipient to payee beneficiary name",
                "person",
                "{Who gets it|The recipient}",
                " to $v",
                "{To whom|Who gets it}?",
            ),
            "amount": o.AMOUNT,
        },
        {
            "currency": o.CURRENCY,
            "text": Parameter(
                "reference purpose note memo", "text", "What it is for", " with the reference $v"
            ),
        },
    ),
    Action(
        "bank",
        "get balance|balance|account balance|check balance|bank balance",
        "{get|check} the balance of an account",
        "{What's|What is} {the|my} balance {on|of} account $id?|{get|check|show} the balance of account $id|How much {money |}is on account $id?",
        facts(
            "{The balance of account $id is|There is|Account $id holds} $balance.",
            balance="num:0:90000",
            currency="currency",
        ),
        {
            "id": Parameter(
                "account account_id id iban",
                "id",
                "{The account|Number of the account}",
                " $v",
                "Which account?",
            )
        },
    ),
    Action(
        "budget",
        "add expense|log expense|expense add|record spending|track expense",
        "{record|add|log} an expense",
        "{I spent|I paid} $amount {for|on} $kind{, write it down|, log it|}|{add|log|record} {an expense of |}$amount for $kind|{add|log} an expense",
        done("{$amount for $kind: {logged|noted}|The expense is recorded}."),
        {
            "amount": o.AMOUNT,
            "kind": Parameter(
                "category kind type what", "thing", "What it was for", " for $v", "What was it for?"
            ),
        },
        {"date": o.DATE},
    ),
    Action(
        "calculator",
        "calculate|calculator|evaluate|compute|math eval|solve expression|calc",
        "{calculate|evaluate} {an expression|a sum}",
        "{calculate|compute|evaluate|work out} $sum|{What is|What's|How much is} $sum?|{do the maths|use the calculator}: $sum|{calculate|compute} something",
        facts("{It is|That is|The result is|$sum is} $result.", result="num:-900:90000"),
        {
            "sum": Parameter(
                "expression expr formula input query",
                "sum",
                "{The expression|What to calculate}",
                ": $v",
                "What should I calculate?",
            )
        },
        {
            "precision": Parameter(
                "precision decimals digits round_to",
                "int:0:8",
                "Digits after the point",
                " {with|to} $v {decimals|digits}",
            )
        },
        also="sum",
        figure=_evaluate,
    ),
    Action(
        "calculator",
        "statistics|mean|average|stats|summarize numbers|list stats",
        "{compute|get} {the average|statistics} of {some |}numbers",
        "{What's|What is} the {average|mean} of $numbers?|{compute|get|give me} the {average|mean|statistics} of $numbers|{average|sum up} {these|the} numbers: $numbers",
        facts("The {average|mean} is $mean.", mean="num:0:900", largest="int:10:999", smallest="int:0:9"),
        {"numbers": Parameter("numbers values data list", "nums", "The numbers", " of $v", "Which numbers?")},
        also="sum",
        figure=_statistics,
    ),
    Action(
        "units",
        "convert units|unit convert|convert measure|units|convert unit",
        "convert a measure{| from one unit to another}",
        "{convert|change} $value $from {to|into} $to|How many $to are $value $from?",
        facts("{That is|It is|$value $from is} $result $to.", result="num:0:90000"),
        {
            "value": Parameter(
                "value amount quantity number", "num:1:2000", "How much", " of $v", "How much?"
            ),
            "from": Parameter(
                "from_unit source_unit from unit",
                LONG_UNITS,
                "Unit to convert from",
                " from $v",
                "From which unit?",
            ),
            "to": Parameter(
                "to_unit target_unit to into",
                SHORT_UNITS,
                "Unit to convert to",
                " to $v",
                "To which unit?",
            ),
        },
        also="sum",
        figure=_convert_length,
    ),
    Action(
        "random",
        "random number|roll dice|random|pick number|draw number|dice",
        "{draw|pick|roll} {a random number|dice}",
        "{draw|pick|give me|roll} a random number {between|in the range} $range|{draw|pick|choose} a {number|random number} from $range",
        facts("{It is|You got|The number is|I drew} $value.", value="int:0:999"),
        {
            "range": Parameter(
                "range limits bounds between",
                "range",
                "Lowest and highest",
                " from $v",
                "Between which two numbers?",
            )
        },
        figure=_random_number,
    ),
]
ACTIONS = MONEY
