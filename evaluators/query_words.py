"""Word tables of :mod:`.queries`: what a neutral query leaves out, and how verbs go back to their base form.

Everything here could tell a search engine *what the claim says* about its subject (how much, when, whether, in which
direction) instead of only *what it speaks about*.
"""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split(">") for pair in text.split())


FUNCTION = _words(
    """
    a an the this that these those it its it's he him his she her hers they them their theirs we us our you your i
    me my who whom whose which what when where why how there here and or but nor so if then than as of in on at to
    for from by with without within into onto about against between among through during before after since until
    via per under is are was were be been being am do does did doing done has have had having will would can could
    may might shall should must ought able unable also too very just even both either such same other others
    another own while whereas although though because however therefore thus hence indeed according based not no
    """
)
"""Function words, auxiliaries among them: negation moves them about."""

NEGATION = _words(
    "not no never neither nor none nobody nothing nowhere cannot non hardly scarcely barely longer anymore"
)

NUMBER_WORDS = _words(
    """
    half double twice triple quadruple dozen dozens hundred hundreds thousand thousands million millions billion
    billions trillion trillions zero one two three four five six seven eight nine ten eleven twelve thirteen
    fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
    first second third fourth fifth sixth seventh eighth ninth tenth thirds quarter quarters fifths tenths once
    fold twofold threefold fourfold fivefold tenfold
    """
)

QUANTITY = _words(
    """
    all any some many much more most few fewer fewest less least lots several every each only enough almost nearly
    about around approximately roughly exactly precisely total majority minority entire entirely whole wholly
    partly partially mostly largely mainly slightly significantly substantially considerably sharply dramatically
    steadily rapidly slowly strongly completely fully virtually time times
    """
)

DIRECTION = _words(
    """
    increase increases increased increasing decrease decreases decreased decreasing rise rises rose risen rising
    fall falls fell fallen falling grow grows grew grown growing growth shrink shrinks shrank shrunk shrinking
    drop drops dropped dropping decline declines declined declining climb climbs climbed climbing surge surges
    surged surging plunge plunges plunged plunging soar soars soared soaring slump slumps slumped slumping jump
    jumps jumped jumping gain gains gained gaining lose loses lost losing improve improves improved improving
    improvement worsen worsens worsened worsening expand expands expanded expanding expansion shrinkage reduce
    reduces reduced reducing reduction raise raises raised raising lower lowers lowered lowering doubled doubles
    doubling tripled triples tripling halve halves halved halving quadrupled exceed exceeds exceeded exceeding
    surpass surpasses surpassed surpassing outperform outperforms outperformed outpace outpaces outpaced higher
    highest high low lowest larger largest smaller smallest bigger biggest greater greatest better best worse
    worst faster fastest slower slowest longer longest shorter shortest older oldest younger youngest newer newest
    earlier earliest later latest above below over under up down upward downward upwards downwards beyond compared
    relative versus rather like unlike equal equals equally maximum minimum accelerate accelerates accelerated
    accelerating slow slows slowed slowing strengthen strengthens strengthened weaken weakens weakened cheaper
    cheapest stronger strongest weaker weakest cut cuts cutting
    """
)

DATES = _words(
    """
    january february march april may june july august september october november december jan feb mar apr jun jul
    aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday
    """
)

TIME = _words(
    """
    today yesterday tomorrow now currently current recently recent already still yet ever soon ago early late mid
    beginning end start q1 q2 q3 q4 h1 h2 fy bc ad bce ce am pm a.m p.m year years yearly month months monthly
    week weeks weekly day days daily hour hours minute minutes decade decades century centuries spring summer
    autumn winter last past next previous previously former formerly originally initially eventually finally
    """
)

UNITS = _words(
    """
    percent percentage percentages point points pct pp bp bps % ‰ usd eur gbp jpy cny rmb dollar dollars euro
    euros pound pounds yen yuan cent cents k m b bn mn tn tr mm cm km nm µm kg mg g t lb lbs oz kt mt gt tonne
    tonnes ton tons metre metres meter meters kilometre kilometres kilometer kilometers mile miles foot feet inch
    inches acre acres hectare hectares ha litre litres liter liters gallon gallons barrel barrels w kw mw gw tw wh
    kwh mwh gwh twh watt watts kilowatt kilowatts megawatt megawatts gigawatt gigawatts terawatt terawatts
    watt-hours kilowatt-hours gigawatt-hours terawatt-hours j kj mj v kv mv a ma hz khz mhz ghz kb mb gb tb pb bit
    bits byte bytes s ms ns min h hr hrs °c °f c f celsius fahrenheit kelvin degree degrees ppm ppb bar psi pa kpa
    mpa n kn sq
    """
)

DROPPED = FUNCTION | NEGATION | NUMBER_WORDS | QUANTITY | DIRECTION | DATES | TIME | UNITS

NEVER_A_NAME = NEGATION | NUMBER_WORDS | DATES
"""Left out even where capitals on both sides suggest a name (*New York Times* keeps its last word)."""

NAMES_WITH_DIGITS = _words("2g 3g 4g 5g 6g 2d 3d 4d 4k 8k")
"""Names that begin with a digit and are no amounts."""

IRREGULAR = _pairs(
    """
    embed>embed debuted>debut hoped>hope bias>bias shoes>shoe perhaps>perhaps overseas>overseas agreed>agree
    freed>free guaranteed>guarantee decreed>decree refereed>referee died>die tied>tie lied>lie owed>owe used>use
    said>say says>say made>make went>go goes>go gone>go took>take taken>take came>come saw>see seen>see knew>know
    known>know gave>give given>give found>find thought>think told>tell became>become showed>show shown>show
    left>leave felt>feel brought>bring began>begin begun>begin kept>keep held>hold wrote>write written>write
    stood>stand heard>hear meant>mean met>meet ran>run paid>pay sat>sit spoke>speak spoken>speak led>lead
    understood>understand won>win bought>buy sent>send built>build spent>spend sold>sell caught>catch taught>teach
    fought>fight sought>seek chose>choose chosen>choose drove>drive driven>drive broke>break broken>break
    drew>draw drawn>draw flew>fly flown>fly threw>throw thrown>throw wore>wear worn>wear bore>bear struck>strike
    hit>hit shook>shake stole>steal stolen>steal swore>swear sworn>swear woke>wake froze>freeze frozen>freeze
    hid>hide hidden>hide rode>ride ridden>ride sang>sing sung>sing sank>sink sunk>sink swam>swim drank>drink
    drunk>drink ate>eat eaten>eat bit>bite bitten>bite bound>bind fed>feed bled>bleed bred>breed fled>flee
    sped>speed dealt>deal dug>dig hung>hang lent>lend slept>sleep swept>sweep wept>weep withdrew>withdraw
    withdrawn>withdraw withheld>withhold undertook>undertake undertaken>undertake overtook>overtake
    overtaken>overtake oversaw>oversee overseen>oversee forbade>forbid forbidden>forbid forgot>forget
    forgotten>forget shot>shoot shut>shut spun>spin stuck>stick strove>strive swung>swing tore>tear torn>tear
    underwent>undergo upheld>uphold laid>lay lain>lie burnt>burn learnt>learn learned>learn rebuilt>rebuild
    arose>arise arisen>arise focused>focus focuses>focus biased>bias added>add embedded>embed viruses>virus
    buses>bus gases>gas controlled>control cancelled>cancel travelled>travel labelled>label modelled>model
    fuelled>fuel compelled>compel propelled>propel expelled>expel signalled>signal totalled>total
    channelled>channel levelled>level marshalled>marshal enrolled>enroll piloted>pilot pivoted>pivot
    belonged>belong prolonged>prolong banged>bang longed>long hanged>hang adhered>adhere interfered>interfere
    persevered>persevere welcomed>welcome postponed>postpone phoned>phone cloned>clone condoned>condone
    convened>convene intervened>intervene tuned>tune owned>own series>series species>species news>news
    always>always children>child people>people women>woman men>man analyses>analysis crises>crisis theses>thesis
    hypotheses>hypothesis lives>life leaves>leave movies>movie cookies>cookie pressed>press lenses>lens
    """
)
"""Past tense or third person to base form, where no rule gives it."""

TAKES_E = re.compile(
    r"""(?:[cvuz]|[^s]s            # produce, approve, continue, analyze, close (but press)
    |[^gn]g|[aeir]ng               # manage, merge, change (but belong, in the table)
    |[bcdfgkpt]l                   # enable, handle, settle
    |(?:^|[^eo])at|(?:^|[^n])creat # state, associate, create (but treat, float)
    |(?:^|[^a-z])cit|excit|incit|recit|invit|(?:^|re)unit|ignit|expedit
    |complet|compet|delet|deplet   # (but target)
    |ut|[^o]ot                     # compute, promote (but shoot)
    |[^ao]id|[^oe]ad|[^o]od|[^o]ud|[cp]ed
    |[^a]ir|[^o]ur|[^eoi]ar        # require, measure, compare (but repair, favour, appear)
    |stor|plor|ignor|scor|[^a-z]bor
    |[^aoue]in|[^ao]im|[^eo]am|um  # define, time, name, consume (but gain, join, claim, stream)
    |[^eo]ap|wip|pip|typ|scop|[^o]cop
    |[^o]ok|[^e]ak|ik|uk
    |[^m]ib|ob|cub|[^aeo]il|[^aou]ul|yl|scal|hal|consol|parol)$""",
    re.VERBOSE,
)
"""Stems (a past tense without its *-ed*) whose verb ends in *e*."""

KEPT_DOUBLE = re.compile(r"(?:ll|ss|zz|ff|^err|^add|^ebb|^odd|cott)$")
"""Double consonants that belong to the verb: call, press, add."""

# --- Chinese ---------------------------------------------------------------------------------------------------------

HAN_PROTECTED = _words(
    """
    不丹 不锈钢 不动产 不孕 不良 不同 不断 无人机 无人驾驶 无线 无锡 无机 无烟煤 无障碍 未来 未成年 非洲 非典
    非营利 非遗 非政府 南非 没收 淹没 百度 三位一体 第三方 了解 为了 除了 是否 于是 只是 但是 还是 有限 有关 拥有
    国有 私有 公有 有效 有机 有色 含有 具有 持有 占有 所有权 有害 稀有 特有 现有 享有 有线 有毒 增值税 减排 升级
    上升级 降低碳 提高铁
    """
)
"""Words that hold a character which is otherwise left out."""

_DIGITS = r"(?:[0-9][0-9.,]*|[零〇一二两三四五六七八九十百千万亿]+)"
_SCALE = r"(?:[百千万亿]|多|余|几)*"
_UNIT = (
    r"(?:个?百分点|[%‰]|美元|欧元|英镑|日元|港元|元|平方公里|平方米|立方米|公里|千米|厘米|毫米|纳米|米|吨|千克|公斤|克|升|桶"
    r"|[千兆吉太]?瓦时|[千兆吉太]瓦|摄氏度|度|倍|成|年代|世纪|年度|年[初底末]?|个?月[份初底]?|日|号|天|周|小时|分钟|秒|季度|岁"
    r"|名|位|人|家|个|项|次|台|辆|架|艘|座|款|种|篇|部|套|件|条|例|届|期|级|代|轮)"
)
_ABOUT = r"(?:约为|大约|超过|高达|达到|接近|将近|不足|不到|至少|至多|约|近|超|占|达|至|到|于|在|从|自|逾|共|仅)?"
_OR_SO = r"(?:以上|以下|以内|左右|上下|多|余)?"

HAN_DROPPED = (
    rf"{_ABOUT}百分之{_DIGITS}(?:点{_DIGITS})?{_OR_SO}",
    rf"{_ABOUT}{_DIGITS}分之{_DIGITS}{_OR_SO}",
    rf"{_ABOUT}第?{_DIGITS}{_SCALE}{_UNIT}{_OR_SO}",
    rf"{_ABOUT}第{_DIGITS}",
    rf"{_ABOUT}[0-9][0-9.,:/\\-]*{_SCALE}{_OR_SO}",
    r"并非|并不|并未|并没有|没有|从未|从不|不是|不再|尚未|未能|未曾|不曾|绝不|毫不|无法|不|没|未|无|非",
    r"同比|环比|大幅度?|小幅|显著|明显|略微|略有|持续|快速|缓慢|急剧|进一步",
    r"负增长|增长|增加|增至|上升|上涨|上调|升至|提高|提升|扩大|加快|加速|改善|下降|下跌|下滑|下调|降低|降至|减少|缩小|放缓|恶化|翻番|翻倍|减半",
    r"超过|超出|高于|低于|多于|少于|大于|小于|优于|劣于|至少|至多|最[多少高低大小早晚新好差]|更[多少高低大小好差]|较[高低大小多少]|达到|高达",
    r"全部|所有|全体|大多数|多数|大部分|少数|部分|一些|许多|很多|众多|几乎|仅有|只有|半数|一半|过半",
    r"[上下]半年|去年|今年|明年|前年|目前|当前|如今|现在|此前|最近|近期|近年来|截至|截止|[一二三四]季度|早已|已经|曾经|正在|仍然|即将|能够|可以",
    r"[了是有已曾仍]",
)
"""What a query in Chinese leaves out, in this order. Particles go only where a negation would move them."""
